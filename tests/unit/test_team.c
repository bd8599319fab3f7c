/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB UINT64_C(1024)
#define MIB UINT64_C(1048576)
#define SECONDS 12

/* Three of these copy a hundred files each, of which a process opens and reads some and another one makes and writes them. */
static struct batch *copied(void)
{
    struct batch *batch = history_batch(0);

    for (uint32_t pid = 10; pid < 16; pid++) {
        bool reads = pid % 2 == 0;

        history_ops(batch, "j", pid, reads ? OP_OPEN : OP_CREATE, 0, 100);
        history_ops(batch, "j", pid, OP_STAT, 0, 100);
        history_ops(batch, "j", pid, reads ? OP_READ : OP_WRITE, 256 * KIB, 100);
        history_ops(batch, "j", pid, OP_CLOSE, 0, 100);
    }
    return batch;
}

static double ops_of(struct batch *batch, const char *profile)
{
    const struct profile_share *found;
    struct profile_list list;
    double share;

    classified(batch, false, &list);
    found = classified_find(&list, profile);
    share = found ? found->share_ops : 0;
    classified_adds_up(&list);
    profile_list_clear(&list);
    return share;
}

static void walk(struct batch *batch, uint32_t pid, uint64_t names)
{
    history_ops(batch, "j", pid, OP_STAT, 0, names);
    history_ops(batch, "j", pid, OP_READDIR, 0, names / 10);
}

/* find, beside cp: 2,400 operations copy. */
static void who_walks_beside_a_copy_is_none_of_it(void **state)
{
    struct batch *batch = copied();

    walk(batch, 20, 50000);
    assert_float_equal(ops_of(batch, "stage-copy"), 2400 / 57400.0, 0.001);
    batch = copied();
    walk(batch, 20, 50000);
    assert_float_equal(ops_of(batch, "ingest-scan"), 55000 / 57400.0, 0.001);
}

/* Who copies looks at what there is, some names a file; of several walks the small ones are these. */
static void who_looks_at_what_there_is_belongs_to_it(void **state)
{
    struct batch *batch = copied();

    walk(batch, 20, 600);
    assert_float_equal(ops_of(batch, "stage-copy"), 1, 0.001);
    batch = copied();
    walk(batch, 20, 50000);
    walk(batch, 21, 600);
    assert_float_equal(ops_of(batch, "stage-copy"), 3060 / 58060.0, 0.001);
}

/* A trainer that reads as much between two saves as it saves, by the same sizes: it does one after the other, who copies both
 * at once. */
static void who_reads_as_much_as_it_saves_copies_nothing(void **state)
{
    for (unsigned copies = 0; copies < 2; copies++) {
        struct batch *batches[SECONDS];
        struct profile_list list;

        for (unsigned i = 0; i < SECONDS; i++) {
            struct batch *batch = batches[i] = history_batch((int)i);
            bool saves = !copies && i % 6 == 5;

            history_ops(batch, "j", 9, OP_OPEN, 300 * MIB, i == 0);
            history_pieces(batch, 9, FILE_LARGE, MIB, 60, 0);
            history_ops(batch, "j", 9, OP_CREATE, 0, i == 0);
            history_ops(batch, "j", 9, OP_WRITE, MIB, copies ? 60 : saves ? 6 * 60 : 0);
        }
        classified_each(batches, SECONDS, false, &list);
        assert_true((classified_bytes(&list, "stage-copy") > 0.9) == copies);
        assert_true(copies || classified_bytes(&list, "shard-streaming") > 0.45);
        assert_true(copies || classified_bytes(&list, "checkpoint") > 0.45);
        profile_list_clear(&list);
    }
}

/* What one packs another one unpacks: all in all as much is written as was read. */
static void who_packs_and_unpacks_copies_nothing(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batch = history_batch(0);
        uint64_t less = packs ? 20 : 100;

        history_ops(batch, "j", 10, OP_READ, 128 * KIB, 1000);
        history_ops(batch, "j", 10, OP_WRITE, 128 * KIB, 10 * less);
        history_ops(batch, "j", 11, OP_READ, 128 * KIB, 10 * less);
        history_ops(batch, "j", 11, OP_WRITE, 128 * KIB, 1000);
        history_ops(batch, "j", 10, OP_CREATE, 0, 1);
        history_ops(batch, "j", 11, OP_CREATE, 0, 1);
        assert_true((ops_of(batch, "stage-copy") > 0.95) == !packs);
    }
}

/* Four processes read small files, and one writes into few large ones what these have read, or something else. */
static void what_others_read_is_packed(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batch = history_batch(0);

        for (uint32_t pid = 10; pid < 14; pid++) {
            history_ops(batch, "j", pid, OP_STAT, 0, 1000);
            history_ops(batch, "j", pid, OP_OPEN, 48 * KIB, 1000);
            history_ops(batch, "j", pid, OP_READ, 48 * KIB, 1000);
            history_ops(batch, "j", pid, OP_READ, 0, 1000);
            history_ops(batch, "j", pid, OP_CLOSE, 0, 1000);
        }
        history_ops(batch, "j", 20, OP_CREATE, 0, 5);
        history_ops(batch, "j", 20, OP_WRITE, 128 * KIB, packs ? 1510 : 1000);
        history_ops(batch, "j", 20, OP_CLOSE, 0, 5);
        assert_true((ops_of(batch, "preprocess") > 0.95) == packs);
    }
}

/* One packs small files, another one copies large ones: all in all, too, as much is written as was read, into few files. */
static void who_packs_beside_a_copy_does_another_thing(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 10, OP_STAT, 0, 6000);
    history_whole_files(batch, 10, 5 * KIB, 6000);
    history_ops(batch, "j", 10, OP_CREATE, 0, 1);
    history_ops(batch, "j", 10, OP_WRITE, MIB, 29);
    history_ops(batch, "j", 11, OP_OPEN, 160 * MIB, 3);
    history_pieces(batch, 11, FILE_LARGE, MIB, 480, 0);
    history_ops(batch, "j", 11, OP_CREATE, 0, 3);
    history_ops(batch, "j", 11, OP_WRITE, MIB, 480);
    classified(batch, false, &list);
    assert_float_equal(classified_bytes(&list, "stage-copy"), 960 / 1018.0, 0.01);
    assert_float_equal(classified_ops(&list, "preprocess"), 0.97, 0.02);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_walks_beside_a_copy_is_none_of_it),
        cmocka_unit_test(who_looks_at_what_there_is_belongs_to_it),
        cmocka_unit_test(what_others_read_is_packed),
        cmocka_unit_test(who_reads_as_much_as_it_saves_copies_nothing),
        cmocka_unit_test(who_packs_and_unpacks_copies_nothing),
        cmocka_unit_test(who_packs_beside_a_copy_does_another_thing),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
