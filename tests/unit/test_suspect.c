/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/suspect.h"
#include "tests/unit/history.h"

#define NODES 6 /* a node and as many peers as it takes */
#define OPS   100

enum how { WELL, SLOWLY, BADLY, HARDLY };

/* What node number i did from that second on, for so long. */
static struct batch *make(unsigned i, int second, int64_t interval_ms, enum how how)
{
    struct batch *batch = history_batch(second);
    char name[16];

    snprintf(name, sizeof(name), "n%u", i);
    assert_int_equal(batch_set(batch, &batch->node, name), 0);
    batch->interval_ms = interval_ms;
    batch->duration_ns = (uint64_t)interval_ms * 1000000;
    history_ops(batch, "j", 0, OP_READ, 4096, how == HARDLY ? 1 : OPS);
    if (how == HARDLY)
        assert_int_equal(histogram_add(&batch->records[0].latency_ns, 120000000, OPS / 12), 0);
    if (how == SLOWLY)
        assert_int_equal(histogram_add(&batch->records[0].latency_ns, 50000000, OPS / 10), 0);
    if (how == BADLY)
        history_errors(batch, "j", 0, OP_READ, 0, OPS / 2);
    /* of a local volume the name begins with the node's */
    snprintf(name, sizeof(name), "n%u:v", i);
    assert_int_equal(batch_set(batch, &batch->volumes[0].name, name), 0);
    return batch;
}

static void add(struct suspects *suspects, unsigned i, int second, int64_t interval_ms, enum how how)
{
    struct batch *batch = make(i, second, interval_ms, how);

    assert_int_equal(suspects_add(suspects, batch), 0);
    batch_free(batch);
}

/* An interval of 1 s of all of them, of which the first is not well. */
static void add_all(struct suspects *suspects, unsigned nodes, int second, enum how how)
{
    for (unsigned i = 0; i < nodes; i++)
        add(suspects, i, second, 1000, i ? WELL : how);
}

/* In each of the seconds of a word: s for slowly, b for badly, h for hardly anything. */
static void finish(struct suspects *suspects, unsigned nodes, const char *word)
{
    static const enum how hows[] = {['s'] = SLOWLY, ['b'] = BADLY, ['h'] = HARDLY, ['.'] = WELL};

    for (int second = 0; word[second]; second++)
        add_all(suspects, nodes, second, hows[(unsigned char)word[second]]);
    assert_int_equal(suspects_finish(suspects), 0);
}

static void a_slow_node_is_found_among_its_peers(void **state)
{
    struct suspects suspects = {0};

    finish(&suspects, NODES, "..s.ss....");
    assert_int_equal(suspects.count, 1);
    assert_string_equal(suspects.list[0].cluster, "c");
    assert_string_equal(suspects.list[0].node, "n0");
    assert_string_equal(suspects.list[0].job, "j");
    assert_string_equal(suspects.list[0].volume, "n0:v");
    assert_int_equal(suspects.list[0].op, OP_READ);
    assert_int_equal(suspects.list[0].symptom, SYMPTOM_P99);
    assert_int_equal(suspects.list[0].bad, 3);
    assert_int_equal(suspects.list[0].intervals, 10);
    assert_int_equal(suspects.list[0].peers, NODES - 1);
    assert_true(suspects.list[0].value > 0.04 && suspects.list[0].value < 0.06);
    assert_true(suspects.list[0].median < 2e-6);
    suspects_clear(&suspects);
}

static void errors_are_another_symptom(void **state)
{
    struct suspects suspects = {0};

    finish(&suspects, NODES, "bbb");
    assert_int_equal(suspects.count, 1);
    assert_int_equal(suspects.list[0].symptom, SYMPTOM_ERRORS);
    assert_true(suspects.list[0].value > 0.33 && suspects.list[0].value < 0.34 && suspects.list[0].median == 0);
    suspects_clear(&suspects);
}

static void who_hardly_gets_anything_done_is_found(void **state)
{
    struct suspects suspects = {0};

    finish(&suspects, NODES, ".hhh.");
    assert_int_equal(suspects.count, 1);
    assert_string_equal(suspects.list[0].node, "n0");
    assert_int_equal(suspects.list[0].symptom, SYMPTOM_P99);
    assert_true(suspects.list[0].value > 0.1);
    suspects_clear(&suspects);
}

static void too_few_peers_tell_nothing(void **state)
{
    struct suspects suspects = {0};

    finish(&suspects, NODES - 1, "ssssssssss");
    assert_int_equal(suspects.count, 0);
    suspects_clear(&suspects);
}

static void once_in_a_while_is_chance(void **state)
{
    struct suspects suspects = {0};

    finish(&suspects, NODES, "ss...ss...ss...s..s..s");
    assert_int_equal(suspects.count, 0);
    suspects_clear(&suspects);
}

static void nodes_may_come_late(void **state)
{
    struct suspects suspects = {0};

    for (int second = 0; second < 3 + 2; second++) {
        for (unsigned i = 1; i < NODES; i++)
            add(&suspects, i, second, 1000, WELL);
        if (second >= 2)
            add(&suspects, 0, second - 2, 1000, SLOWLY);
    }
    assert_int_equal(suspects_finish(&suspects), 0);
    assert_int_equal(suspects.count, 1);
    assert_int_equal(suspects.list[0].bad, 3);
    suspects_clear(&suspects);
}

/* What was before them is not what was just before. */
static void intervals_that_become_longer_begin_anew(void **state)
{
    static const enum how how[] = {SLOWLY, SLOWLY, WELL, WELL, WELL, WELL};
    struct suspects suspects = {0};

    for (int second = 0; second < 6; second++)
        add_all(&suspects, NODES, second, how[second]);
    for (unsigned i = 0; i < NODES; i++)
        add(&suspects, i, 20, 10000, i ? WELL : SLOWLY);
    assert_int_equal(suspects_finish(&suspects), 0);
    assert_int_equal(suspects.count, 0);
    suspects_clear(&suspects);
}

/* Others go on with shorter intervals while a longer one is still coming in. */
static void who_tells_less_often_has_peers_of_its_own(void **state)
{
    struct suspects suspects = {0};

    for (int ten = 0; ten < 5; ten++)
        for (unsigned i = 0; i < NODES; i++) {
            add(&suspects, i, ten * 10, 10000, i ? WELL : SLOWLY);
            add(&suspects, NODES, ten * 10 + (int)i, 1000, WELL);
        }
    assert_int_equal(suspects_finish(&suspects), 0);
    assert_int_equal(suspects.count, 1);
    assert_string_equal(suspects.list[0].node, "n0");
    assert_int_equal(suspects.list[0].bad, 5);
    suspects_clear(&suspects);
}

/* What a node does in an interval. */
struct deed {
    enum operation op;
    uint64_t size, count, latency_ns;
    int code; /* 0: none fails; of which so many fail: */
    uint64_t failed;
    uint64_t by_name, by_descriptor; /* of stats */
    uint64_t wrote;                  /* of syncs */
};

static void do_it(struct suspects *suspects, unsigned i, int second, const struct deed *deed)
{
    struct batch *batch = history_batch(second);
    struct record *record;
    char name[16];

    snprintf(name, sizeof(name), "n%u", i);
    assert_int_equal(batch_set(batch, &batch->node, name), 0);
    history_ops(batch, "j", 0, deed->op, deed->size, deed->count);
    if (deed->failed)
        history_errors(batch, "j", 0, deed->op, deed->code, deed->failed);
    record = &batch->records[0];
    record->order[ORDER_BY_NAME] = deed->by_name;
    record->order[ORDER_OF_OPEN] = deed->by_descriptor;
    histogram_clear(&record->latency_ns);
    assert_int_equal(histogram_add(&record->latency_ns, deed->latency_ns, deed->count + deed->failed), 0);
    if (deed->wrote)
        history_ops(batch, "j", 0, OP_WRITE, deed->wrote, 1);
    assert_int_equal(suspects_add(suspects, batch), 0);
    batch_free(batch);
}

/* How many are suspects, and how many do something else, where the first node does that, and all others this. */
static void judge(const struct deed *first, const struct deed *others, unsigned count, unsigned unlike)
{
    struct suspects suspects = {0};

    for (int second = 0; second < 5; second++)
        for (unsigned i = 0; i < NODES; i++)
            do_it(&suspects, i, second, i ? others : first);
    assert_int_equal(suspects_finish(&suspects), 0);
    assert_int_equal(suspects.count, count);
    assert_int_equal(suspects.unlike_count, unlike);
    if (unlike) {
        assert_string_equal(suspects.unlike[0].node, "n0");
        assert_int_equal(suspects.unlike[0].symptom, SYMPTOM_P99);
        assert_int_equal(suspects.unlike[0].bad, 5);
    }
    suspects_clear(&suspects);
}

static void who_moves_larger_pieces_is_not_slow(void **state)
{
    const struct deed log = {.op = OP_WRITE, .size = 4096, .count = 30, .latency_ns = 50000};
    const struct deed checkpoint = {.op = OP_WRITE, .size = 4 << 20, .count = 50, .latency_ns = 8000000};
    const struct deed few = {.op = OP_WRITE, .size = 4 << 20, .count = 5, .latency_ns = 8000000};
    const struct deed slow = {.op = OP_WRITE, .size = 4096, .count = 30, .latency_ns = 500000};

    judge(&checkpoint, &log, 0, 1);
    judge(&few, &log, 0, 1);
    judge(&slow, &log, 1, 0);
}

static void who_looks_for_what_is_not_there_is_not_ill(void **state)
{
    const struct deed opens = {.op = OP_OPEN, .count = 100, .latency_ns = 20000};
    const struct deed looks = {.op = OP_OPEN, .count = 10, .latency_ns = 20000, .code = ENOENT, .failed = 90};
    const struct deed unknown = {.op = OP_OPEN, .count = 10, .latency_ns = 20000, .failed = 90};
    const struct deed stale = {.op = OP_OPEN, .count = 10, .latency_ns = 20000, .code = ESTALE, .failed = 90};
    const struct deed long_looks = {.op = OP_OPEN, .count = 10, .latency_ns = 400000, .code = ENOENT, .failed = 90};

    judge(&looks, &opens, 0, 0);
    judge(&unknown, &opens, 0, 0);
    judge(&stale, &opens, 1, 0);
    judge(&long_looks, &opens, 0, 1);
    judge(&long_looks, &looks, 1, 0);
}

static void who_asks_by_name_or_syncs_more_is_not_slow(void **state)
{
    const struct deed open = {.op = OP_STAT, .count = 100, .latency_ns = 3000, .by_descriptor = 100};
    const struct deed named = {.op = OP_STAT, .count = 100, .latency_ns = 300000, .by_name = 100};
    const struct deed slow = {.op = OP_STAT, .count = 100, .latency_ns = 300000, .by_descriptor = 100};
    const struct deed log = {.op = OP_FSYNC, .count = 30, .latency_ns = 1000000, .wrote = 1 << 20};
    const struct deed saves = {.op = OP_FSYNC, .count = 30, .latency_ns = 90000000, .wrote = 1 << 30};
    const struct deed late = {.op = OP_FSYNC, .count = 30, .latency_ns = 90000000};

    judge(&named, &open, 0, 1);
    judge(&slow, &open, 1, 0);
    judge(&saves, &log, 0, 1);
    judge(&late, &log, 1, 0); /* written an interval earlier */
}

static void nothing_is_no_suspect(void **state)
{
    struct suspects suspects = {0};

    assert_int_equal(suspects_finish(&suspects), 0);
    assert_int_equal(suspects.count, 0);
    suspects_clear(&suspects);
}

/* A file system's UUID is no other node's, and a pseudonym of a name that begins with a node's is none either: of a
   node's own volumes those are alike that are of one source. */
static void own_volumes_are_compared_by_source(void **state)
{
    static const char *const mounts[] = {"mount-5c4a"};
    static const struct {
        const char *name, *source; /* with a node's number */
        const char *const *mounts;
        bool alike;
    } kinds[] = {
        {"n%u:xfs:f00d-%u", "/dev/nvme0n1p1", NULL, true}, {"n%u:xfs:f00d-%u", "/dev/nvme%un1", NULL, false},
        {"mount-%u", "source-77", mounts, true},           {"mount-%u", "source-%u", mounts, false},
        {"mount-%u", "source-77", NULL, false},            {"n%u:tmpfs:/dev/shm", "tmpfs", mounts, true},
    };

    for (unsigned k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        struct suspects suspects = {0};

        for (int second = 0; second < 3; second++)
            for (unsigned i = 0; i < NODES; i++) {
                struct batch *batch = make(i, second, 1000, i ? WELL : SLOWLY);
                struct volume *volume = &batch->volumes[0];
                char text[64];

                snprintf(text, sizeof(text), kinds[k].name, i, i);
                assert_int_equal(batch_set(batch, &volume->name, text), 0);
                snprintf(text, sizeof(text), kinds[k].source, i);
                assert_int_equal(batch_set(batch, &volume->source, text), 0);
                volume->mounts = kinds[k].mounts;
                volume->mount_count = kinds[k].mounts != NULL;
                assert_int_equal(suspects_add(&suspects, batch), 0);
                batch_free(batch);
            }
        assert_int_equal(suspects_finish(&suspects), 0);
        assert_int_equal(suspects.count, kinds[k].alike);
        suspects_clear(&suspects);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_node_is_found_among_its_peers),
        cmocka_unit_test(own_volumes_are_compared_by_source),
        cmocka_unit_test(errors_are_another_symptom),
        cmocka_unit_test(who_hardly_gets_anything_done_is_found),
        cmocka_unit_test(too_few_peers_tell_nothing),
        cmocka_unit_test(once_in_a_while_is_chance),
        cmocka_unit_test(nodes_may_come_late),
        cmocka_unit_test(intervals_that_become_longer_begin_anew),
        cmocka_unit_test(who_tells_less_often_has_peers_of_its_own),
        cmocka_unit_test(who_moves_larger_pieces_is_not_slow),
        cmocka_unit_test(who_looks_for_what_is_not_there_is_not_ill),
        cmocka_unit_test(who_asks_by_name_or_syncs_more_is_not_slow),
        cmocka_unit_test(nothing_is_no_suspect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
