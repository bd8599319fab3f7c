/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyzer/classify.h"
#include "analyzer/confidence.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define MIB UINT64_C(1048576)

/* Of 50.5 MB + 384 MiB + 256 MiB = 721.6 MB. */
static void check_blend(const struct profile_list *list, double tolerance, double sure)
{
    const struct profile_share *losf = classified_find(list, "losf"), *save = classified_find(list, "checkpoint"),
                               *stream = classified_find(list, "shard-streaming");
    double small = 50.5e6, all = small + 384.0 * MIB + 256.0 * MIB;

    assert_non_null(losf);
    assert_non_null(stream);
    assert_non_null(save);
    assert_true(fabs(losf->share_bytes - small / all) < tolerance);
    assert_true(fabs(stream->share_bytes - 384.0 * MIB / all) < tolerance);
    assert_true(fabs(save->share_bytes - 256.0 * MIB / all) < tolerance);
    assert_true(losf->share_ops > 0.9);
    assert_true(losf->confidence > sure && stream->confidence > sure && save->confidence > sure);
    classified_adds_up(list);
}

static void processes_are_told_apart(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_small_files(batch, 11);
    history_shards(batch, 12);
    history_checkpoint(batch, 13);
    classified(batch, false, &list);
    check_blend(&list, 0.001, 0.8);
    assert_false(classified_says(classified_find(&list, "shard-streaming"), "may as well")); /* nobody else could have done it */
    assert_false(classified_says(classified_find(&list, "shard-streaming"), "not recorded"));
    profile_list_clear(&list);
}

/* Counts, of all reads, which go on and of what files they are: each goes on, small files are read at once. */
static void join(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->record_count; i++) {
        struct record *record = &batch->records[i];

        for (unsigned n = 0; record->op == OP_READ && n < record->size.length; n++) {
            const struct histogram_cell *cell = &record->size.cells[n];
            enum file_size files = bucket_lower(cell->bucket) < MIB ? FILE_SMALL : FILE_LARGE;

            assert_int_equal(joint_add(&record->joint, JOINT_ALL, 1 + files, cell->bucket, cell->count), 0);
            record->file_size[files] += cell->bucket ? cell->count : 0;
            record->order[ORDER_CONSECUTIVE] += cell->bucket ? cell->count : 0;
        }
    }
}

static void totals_say_whether_it_is_known_which_reads_jump(void **state)
{
    for (unsigned joined = 0; joined < 2; joined++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_small_files(batch, 0);
        history_shards(batch, 0);
        history_checkpoint(batch, 0);
        if (joined)
            join(batch);
        classified(batch, false, &list);
        assert_true(classified_says(classified_find(&list, "shard-streaming"), "which jump was not recorded") == !joined);
        profile_list_clear(&list);
    }
}

static void totals_are_unmixed(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_small_files(batch, 0);
    history_shards(batch, 0);
    history_checkpoint(batch, 0);
    classified(batch, false, &list);
    check_blend(&list, 0.01, 0.7);
    assert_true(classified_says(classified_find(&list, "shard-streaming"), "may as well be cv-training"));
    assert_true(classified_says(classified_find(&list, "shard-streaming"), "which jump was not recorded"));
    assert_false(classified_says(classified_find(&list, "losf"), "may as well"));
    assert_false(classified_says(classified_find(&list, "checkpoint"), "may as well"));
    profile_list_clear(&list);
}

static bool holds(const struct share_interval *interval, double share)
{
    return interval->low <= share && share <= interval->high && interval->low >= 0 && interval->high <= 1;
}

/* The same each time; wide for those that have a rival, and for nobody narrower than what it was estimated at. */
static void sums_have_intervals(void **state)
{
    struct profile_list lists[2];
    const struct profile_share *stream, *losf;

    for (unsigned i = 0; i < 2; i++) {
        struct batch *batch = history_batch(0);

        history_small_files(batch, 0);
        history_shards(batch, 0);
        history_checkpoint(batch, 0);
        classified(batch, true, &lists[i]);
    }
    assert_int_equal(lists[0].count, lists[1].count);
    for (uint32_t i = 0; i < lists[0].count; i++) {
        const struct profile_share *a = &lists[0].shares[i], *b = &lists[1].shares[i];

        if (a->pipeline) {
            assert_true(isnan(a->ops_interval.low) && isnan(a->residual));
            continue;
        }
        assert_true(holds(&a->ops_interval, a->share_ops) && holds(&a->bytes_interval, a->share_bytes));
        assert_true(a->bytes_interval.low == b->bytes_interval.low && a->bytes_interval.high == b->bytes_interval.high);
        assert_true(isnan(a->residual) == (strcmp(a->profile, PROFILE_UNKNOWN) != 0));
    }
    stream = classified_find(&lists[0], "shard-streaming");
    losf = classified_find(&lists[0], "losf");
    assert_true(stream->bytes_interval.low < 0.01); /* it may be large samples */
    assert_true(losf->ops_interval.low > 0.02); /* which opens no shards could be */
    for (unsigned i = 0; i < 2; i++)
        profile_list_clear(&lists[i]);
}

/* They were counted: nothing is estimated. */
static void processes_have_no_intervals(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_small_files(batch, 11);
    history_shards(batch, 12);
    classified(batch, true, &list);
    for (uint32_t i = 0; i < list.count; i++)
        assert_true(isnan(list.shares[i].ops_interval.low) && isnan(list.shares[i].bytes_interval.high) &&
                    isnan(list.shares[i].residual));
    profile_list_clear(&list);
}

/* What no profile holds: p of a sum of small files and shards, with so many operations of a third kind in it. */
static double residual(uint64_t strange)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;
    double p;

    history_small_files(batch, 0);
    history_shards(batch, 0);
    history_ops(batch, "j", 0, OP_SETATTR, 0, strange);
    history_ops(batch, "j", 0, OP_TRUNCATE, 0, strange);
    classified(batch, true, &list);
    p = classified_find(&list, PROFILE_UNKNOWN)->residual;
    assert_true((classified_find(&list, PROFILE_UNKNOWN)->share_ops > 0.1) == (strange > 1000));
    profile_list_clear(&list);
    return p;
}

static void what_is_left_over_is_tested(void **state)
{
    assert_true(residual(40) > RESIDUAL_P);
    assert_true(residual(40000) < RESIDUAL_P);
}

/* Nothing is left over by chance where nothing was found; and of too few operations nothing can be said. */
static void what_is_unknown_is_tested_if_it_is_enough(void **state)
{
    for (uint64_t ops = 20; ops <= 20000; ops *= 1000) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 0, OP_TRUNCATE, 0, ops);
        classified(batch, true, &list);
        assert_true(ops > 20 ? classified_find(&list, PROFILE_UNKNOWN)->residual < RESIDUAL_P
                             : isnan(classified_find(&list, PROFILE_UNKNOWN)->residual));
        profile_list_clear(&list);
    }
}

static void confidence_is_bounded(void **state)
{
    struct part part = {.ok = {[OP_READ] = 100}, .summed = 100, .rejected = {.ops = 90}};
    double large = confidence_of_part(&part, true, 0.9, NAN);

    assert_true(confidence_of_match(0.6) < confidence_of_match(0.9) && confidence_of_match(1) < 1);
    assert_true(large > confidence_of_part(&part, true, 0.02, NAN)); /* small parts are more often wrong, */
    assert_true(large > confidence_of_part(&part, true, 0.9, 0.01)); /* and those of sums that are not all explained, */
    part.contested = 50;
    assert_true(large == confidence_of_part(&part, true, 0.9, NAN)); /* not those that may as well be another's */
    for (unsigned i = 0; i < 2; i++) {
        double unknown = confidence_of_part(&part, false, 0.5, i ? 0.01 : 0.5);

        assert_true(unknown > 0 && unknown < 1);
    }
    part.summed = 0; /* now a process's: half of what broke a bound may be its profile's */
    assert_true(fabs(confidence_of_part(&part, false, 0.5, NAN) - 0.44) < 1e-9);
}

#define ACCOMPANIED(companion)                                                                                       \
    "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1, \"signatures\": [{\"name\": \"s\", \"mix\": [{\"op\": \"read\", " \
    "\"weight\": 1}]}], \"companions\": [{" companion "}]}"

static void a_bad_profile_is_refused(void **state)
{
    static const char *const bad[] = {
        "{",
        "{\"name\": \"x\", \"kind\": \"habit\", \"confidence\": 1}",
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1}",
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 2, \"signatures\": "
        "[{\"name\": \"s\", \"mix\": [{\"op\": \"read\", \"weight\": 1}]}]}",
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1, \"signatures\": "
        "[{\"name\": \"s\", \"mix\": [{\"op\": \"raed\", \"weight\": 1}]}]}",
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1, \"signatures\": [{\"name\": "
        "\"s\", \"mix\": [{\"op\": \"read\", \"weight\": 1, \"size\": [9, 9]}]}]}",
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1, \"worth\": \"much\", \"signatures\": "
        "[{\"name\": \"s\", \"mix\": [{\"op\": \"read\", \"weight\": 1}]}]}",
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1, \"signatures\": "
        "[{\"name\": \"s\", \"mix\": [{\"op\": \"stat\", \"weight\": 1, \"of\": \"file\"}]}]}",
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1, \"signatures\": "
        "[{\"name\": \"s\", \"mix\": [{\"op\": \"seek\", \"weight\": 1, \"of\": \"open\"}]}]}",
        ACCOMPANIED("\"op\": \"seek\", \"per\": \"raed\", \"most\": 1"),
        ACCOMPANIED("\"op\": \"seek\", \"per\": \"read\""),
        ACCOMPANIED("\"op\": \"write\", \"per\": \"read\", \"most\": 1"),
        ACCOMPANIED("\"op\": \"seek\", \"empty\": true, \"per\": \"read\", \"most\": 1"),
        ACCOMPANIED("\"op\": \"block_read\", \"per\": \"read\", \"most\": 1"),
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1, \"signatures\": [{\"name\": \"s\", \"mix\": "
        "[{\"op\": \"read\", \"weight\": 1}], \"requires\": [{\"feature\": \"luck\", \"min\": 1}]}]}",
        "{\"name\": \"x\", \"kind\": \"pattern\", \"confidence\": 1, \"made_of\": {\"reads\": \"losf\"}, \"signatures\": "
        "[{\"name\": \"s\", \"mix\": [{\"op\": \"read\", \"weight\": 1}]}]}",
        "{\"name\": \"x\", \"kind\": \"pipeline\", \"confidence\": 1, \"requires\": "
        "[{\"feature\": \"whole.name\", \"min\": 1}]}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_true(catalogue_add(&classified_by, "a test", bad[i], strlen(bad[i])) < 0);
}

static bool is_called(const struct profile_list *list, const char *pipeline)
{
    bool found = false;

    for (uint32_t i = 0; i < list->count; i++)
        found |= list->shares[i].pipeline && strcmp(list->shares[i].profile, pipeline) == 0;
    return found;
}

/* A trainer streams, and saves in one of thirty intervals while it goes on, or only when it has read all. */
static void spikes_of_writes_are_no_phases(void **state)
{
    enum { INTERVALS = 30 };
    static const char *const names[] = {"nlp-mixed", "ml-dev"};

    for (unsigned apart = 0; apart < 2; apart++) {
        struct batch *batches[INTERVALS];
        struct profile_list list;

        for (unsigned i = 0; i < INTERVALS; i++) {
            bool reads = !apart || i < INTERVALS - 1, writes = i == (apart ? INTERVALS - 1 : INTERVALS / 2);

            batches[i] = history_batch((int)i * 10);
            if (reads) {
                history_ops(batches[i], "j", 9, OP_OPEN, 64 * MIB, 1);
                history_ops(batches[i], "j", 9, OP_READ, MIB, 64);
                history_order(batches[i], "j", 9, OP_READ, ORDER_CONSECUTIVE, 64);
            }
            if (writes) {
                history_ops(batches[i], "j", 9, OP_CREATE, 0, 1);
                history_ops(batches[i], "j", 9, OP_WRITE, MIB / 4, 2100);
                history_order(batches[i], "j", 9, OP_WRITE, ORDER_CONSECUTIVE, 2100);
                history_ops(batches[i], "j", 9, OP_FSYNC, 0, 1);
            }
            history_ops(batches[i], "j", 9, OP_CLOSE, 0, reads + writes);
        }
        classified_each(batches, INTERVALS, false, &list);
        assert_true(is_called(&list, names[apart]));
        profile_list_clear(&list);
    }
}

/* In phases, and some logs are written while it reads. */
static void few_bytes_make_no_overlap(void **state)
{
    enum { INTERVALS = 30 };
    struct batch *batches[INTERVALS];
    struct profile_list list;

    for (unsigned i = 0; i < INTERVALS; i++) {
        bool writes = i % 10 == 9, logs = i % 10 == 4;

        batches[i] = history_batch((int)i);
        history_ops(batches[i], "j", 9, writes ? OP_CREATE : OP_OPEN, writes ? 0 : 64 * MIB, 1);
        history_ops(batches[i], "j", 9, OP_CLOSE, 0, 1);
        history_ops(batches[i], "j", 9, writes ? OP_WRITE : OP_READ, MIB, writes ? 560 : 64);
        if (logs)
            history_ops(batches[i], "j", 9, OP_WRITE, MIB, 48);
    }
    classified_each(batches, INTERVALS, false, &list);
    assert_true(is_called(&list, "ml-dev"));
    profile_list_clear(&list);
}

/* Each file of HDF5 has more headers to read than data. */
static void headers_do_not_outvote_what_they_describe(void **state)
{
    enum { INTERVALS = 30 };
    struct batch *batches[INTERVALS];
    struct profile_list list;

    for (unsigned i = 0; i < INTERVALS; i++) {
        bool reads = i / 5 % 2 == 0;

        batches[i] = history_batch((int)i);
        history_ops(batches[i], "j", 9, reads ? OP_OPEN : OP_CREATE, reads ? 4 * MIB : 0, 5);
        history_ops(batches[i], "j", 9, OP_CLOSE, 0, 5);
        if (reads)
            history_ops(batches[i], "j", 9, OP_READ, 512, 30);
        history_ops(batches[i], "j", 9, reads ? OP_READ : OP_WRITE, reads ? 4 * MIB : MIB, reads ? 5 : 20);
    }
    classified_each(batches, INTERVALS, false, &list);
    assert_true(is_called(&list, "ml-dev"));
    profile_list_clear(&list);
}

/* Saves may come every five seconds, and be half of the bytes in smaller pieces than those that are read. */
static void frequent_saves_are_spikes_too(void **state)
{
    enum { INTERVALS = 30 };
    struct batch *batches[INTERVALS];
    struct profile_list list;

    for (unsigned i = 0; i < INTERVALS; i++) {
        batches[i] = history_batch((int)i);
        history_ops(batches[i], "j", 9, OP_READ, MIB, 9);
        history_order(batches[i], "j", 9, OP_READ, ORDER_CONSECUTIVE, 9);
        history_ops(batches[i], "j", 9, OP_OPEN, 64 * MIB, i % 5 == 0);
        history_ops(batches[i], "j", 9, OP_CLOSE, 0, i % 5 == 0);
        if (i % 5 < 4)
            continue;
        history_ops(batches[i], "j", 10, OP_CREATE, 0, 1);
        history_ops(batches[i], "j", 10, OP_WRITE, MIB / 4, 200);
        history_order(batches[i], "j", 10, OP_WRITE, ORDER_CONSECUTIVE, 200);
        history_ops(batches[i], "j", 10, OP_CLOSE, 0, 1);
    }
    classified_each(batches, INTERVALS, false, &list);
    assert_true(is_called(&list, "nlp-mixed"));
    profile_list_clear(&list);
}

/* A trainer that only reads is neither, as surely as it is known to be one. */
static void an_unknown_pipeline_says_what_is_missing(void **state)
{
    struct batch *batch = history_batch(0);
    const struct profile_share *unknown = NULL, *pattern = NULL;
    struct profile_list list;
    bool said = false;

    history_ops(batch, "j", 9, OP_OPEN, 64 * MIB, 1);
    history_ops(batch, "j", 9, OP_READ, MIB, 64);
    history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, 64);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 1);
    classified_each(&batch, 1, false, &list);
    for (uint32_t i = 0; i < list.count; i++)
        *(list.shares[i].pipeline ? &unknown : &pattern) = &list.shares[i];
    assert_non_null(unknown);
    assert_string_equal(unknown->profile, "unknown");
    assert_true(unknown->confidence < 1 && fabs(unknown->confidence - pattern->confidence) < 1e-9);
    for (uint32_t e = 0; e < unknown->evidence_count; e++)
        said |= strcmp(unknown->evidence[e],
                       "reads are 100 % of what is read and written; nlp-mixed has 35 % to 60 %") == 0;
    assert_true(said);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_are_told_apart),
        cmocka_unit_test(totals_are_unmixed),
        cmocka_unit_test(totals_say_whether_it_is_known_which_reads_jump),
        cmocka_unit_test(sums_have_intervals),
        cmocka_unit_test(processes_have_no_intervals),
        cmocka_unit_test(what_is_left_over_is_tested),
        cmocka_unit_test(what_is_unknown_is_tested_if_it_is_enough),
        cmocka_unit_test(confidence_is_bounded),
        cmocka_unit_test(spikes_of_writes_are_no_phases),
        cmocka_unit_test(few_bytes_make_no_overlap),
        cmocka_unit_test(headers_do_not_outvote_what_they_describe),
        cmocka_unit_test(frequent_saves_are_spikes_too),
        cmocka_unit_test(an_unknown_pipeline_says_what_is_missing),
        cmocka_unit_test(a_bad_profile_is_refused),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
