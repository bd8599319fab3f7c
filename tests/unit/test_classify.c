/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/blend.h"
#include "analyzer/classify.h"
#include "analyzer/companions.h"
#include "analyzer/confidence.h"
#include "analyzer/unmix.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static struct catalogue catalogue;

static void classify(struct batch *batch, struct profile_list *list)
{
    classified(&catalogue, batch, false, list);
}

/* As an agent that asks once a second how full a volume is: whatever slows the others down then, it is not that. */
static void who_does_next_to_nothing_is_in_nobodys_way(void **state)
{
    struct aggregate totals = {0};
    struct profile_list lists[2] = {0};
    struct blend blend;

    for (int at = 0; at < 10; at++) {
        struct batch *batch = history_batch(at);

        history_ops(batch, "quiet", 5, OP_READ, 65536, 1000);
        batch->records[0].latency_sum_ns = at % 2 ? 900000000 : 10000000;
        if (at % 2) {
            history_ops(batch, "agent", 6, OP_STAT, 0, 1);
            batch->records[1].latency_sum_ns = 1000000;
        }
        history_into(&totals, batch);
    }
    assert_int_equal(aggregate_sort(&totals), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(classify_job(&catalogue, &totals.jobs[i], false, &lists[i]), 0);
    assert_int_equal(blend_of(&totals, lists, catalogue.count + 1, &blend), 0);
    for (uint32_t i = 0; i < blend.meeting_count; i++)
        assert_string_equal(totals.jobs[blend.meetings[i].victim].name, "agent");
    blend_clear(&blend);
    for (uint32_t i = 0; i < 2; i++)
        profile_list_clear(&lists[i]);
    aggregate_clear(&totals);
}

static int load(void **state)
{
    return catalogue_load(NULL, &catalogue);
}

static int unload(void **state)
{
    catalogue_clear(&catalogue);
    return 0;
}

static void unmixing_by_hand(void **state)
{
    /* 100 of (1/2, 1/2, 0) and 40 of (0, 0, 1), and 500 of what neither knows */
    const double observed[] = {50, 50, 40, 500};
    const double signatures[] = {0.5, 0.5, 0, 0, 0, 0, 1, 0};
    double amounts[2], parts[8], score;

    assert_int_equal(unmix(&(struct unmixing){observed, 4, 4, signatures, 2}, UNMIX_FINE, -INFINITY, amounts, parts,
                           &score), 0);
    assert_true(fabs(amounts[0] - 100) < 1 && fabs(amounts[1] - 40) < 1);
    assert_true(fabs(parts[0] - 50) < 0.5 && fabs(parts[1] - 50) < 0.5);
    assert_true(fabs(parts[6] - 40) < 0.5);
    assert_true(parts[3] == 0 && parts[7] == 0);
}

/* A fit is left as soon as it is sure that it does not pass the floor, and only then. */
static void a_floor_is_sure(void **state)
{
    const double observed[] = {50, 50, 40, 500};
    const double signatures[] = {0.5, 0.5, 0, 0, 0, 0, 1, 0, 0.2, 0.2, 0.6, 0};
    struct unmixing of = {observed, 4, 4, signatures, 3};
    double amounts[3], parts[12], again[3], best, score = NAN;

    assert_int_equal(unmix(&of, UNMIX_FINE, -INFINITY, amounts, parts, &best), 0);
    for (double below = 1e-6; below < 1000; below *= 10) {
        assert_int_equal(unmix(&of, UNMIX_FINE, best - below, again, parts, &score), 0);
        assert_true(score == best);
        assert_memory_equal(again, amounts, sizeof(amounts));
    }
    score = NAN;
    assert_int_equal(unmix(&of, UNMIX_FINE, best + 1, again, parts, &score), 1);
    assert_int_equal(unmix(&of, UNMIX_FINE, best + 1000, again, parts, &score), 1);
    assert_true(isnan(score));
}

/* Patterns get what may go with them of what nobody explains, and no more than there is; how well they fit stays. */
static void companions_take_what_is_left(void **state)
{
    static struct companion of_reads[] = {{OP_SEEK, COMPANION_OK, OP_READ, 3}, {OP_READ, COMPANION_EMPTY, OP_READ, 0.5}};
    static struct companion of_opens[] = {{OP_SEEK, COMPANION_OK, OP_OPEN, 1}, {OP_STAT, COMPANION_FAILED, OP_OPEN, 4}};
    struct profile profiles[] = {{.companions = of_reads, .companion_count = 2},
                                 {.companions = of_opens, .companion_count = 2},
                                 {.companions = of_opens, .companion_count = 2}};
    const struct catalogue of = {.profiles = profiles, .count = 3};
    struct part parts[3] = {{.fit = 90}, {.fit = 200, .contested = 50}}, rest = {0};

    parts[0].ok[OP_READ] = 120; /* 20 of them read nothing */
    parts[0].read[0] = 20;
    parts[0].read[100] = 100;
    parts[1].ok[OP_OPEN] = 200;
    rest.ok[OP_SEEK] = 1000;
    rest.failed[OP_STAT] = 300;
    rest.ok[OP_STAT] = 70;
    rest.ok[OP_READ] = rest.read[0] = 60;
    companions_take(&of, &rest, parts);
    assert_true(parts[0].ok[OP_SEEK] == 300 && parts[0].ok[OP_READ] == 170 && parts[0].read[0] == 70);
    assert_true(parts[1].ok[OP_SEEK] == 200 && parts[1].failed[OP_STAT] == 300);
    assert_true(rest.ok[OP_SEEK] == 500 && rest.ok[OP_STAT] == 70 && rest.ok[OP_READ] == 10 && rest.read[0] == 10);
    assert_true(rest.failed[OP_STAT] == 0 && part_ops(&parts[2]) == 0);
    assert_float_equal(parts[0].fit / part_ops(&parts[0]), 90.0 / 120, 1e-9);
    assert_float_equal(parts[1].contested / part_ops(&parts[1]), 50.0 / 200, 1e-9);

    parts[0] = parts[1] = (struct part){0};
    parts[0].ok[OP_READ] = parts[0].read[100] = 100;
    parts[1].ok[OP_OPEN] = 100;
    rest.ok[OP_SEEK] = 200; /* of the 400 that they may have */
    companions_take(&of, &rest, parts);
    assert_float_equal(parts[0].ok[OP_SEEK], 150, 1e-9);
    assert_float_equal(parts[1].ok[OP_SEEK], 50, 1e-9);
    assert_float_equal(rest.ok[OP_SEEK], 0, 1e-9);
}

/* So little is shared out, by operations and by bytes; not more, and not what is nobody's. */
static void a_little_that_is_left_goes_with_what_was_found(void **state)
{
    struct profile profiles[2] = {0};
    const struct catalogue of = {.profiles = profiles, .count = 2};

    for (unsigned found = 0; found < 2; found++)
        for (unsigned left = 90; left <= 150; left += 60) {
            struct part parts[2] = {0}, rest = {0};

            parts[0].ok[OP_READ] = parts[0].read[100] = 750 * found;
            parts[0].bytes[OP_READ] = 1e6 * found;
            parts[1].ok[OP_STAT] = 250 * found;
            parts[0].fit = 675 * found;
            rest.ok[OP_SETATTR] = left - 10;
            rest.ok[OP_READ] = rest.read[20] = 10;
            rest.bytes[OP_READ] = 1000;
            companions_take_little(&of, &rest, parts);
            if (found && left == 90) {
                assert_float_equal(parts[0].ok[OP_SETATTR], 60, 1e-9);
                assert_float_equal(parts[0].read[20] + parts[1].read[20], 10, 1e-9);
                assert_float_equal(parts[0].bytes[OP_READ], 1e6 + 1000, 1e-6); /* the other has moved none */
                assert_float_equal(parts[0].given + parts[1].given, left, 1e-9);
                assert_float_equal(parts[0].fit / part_ops(&parts[0]), 0.9, 1e-9);
                assert_true(part_ops(&rest) == 0 && part_bytes(&rest) == 0);
            } else {
                assert_true(part_ops(&rest) == left && parts[0].given == 0 && parts[1].given == 0);
            }
        }
}

/* A small part next to a large unknown is still found. */
static void a_trace_is_not_drowned(void **state)
{
    const double observed[] = {20, 1000000};
    const double signatures[] = {1, 0};
    double amounts[1], parts[2], score;

    assert_int_equal(unmix(&(struct unmixing){observed, 2, 2, signatures, 1}, UNMIX_FINE, -INFINITY, amounts, parts,
                           &score), 0);
    assert_true(fabs(parts[0] - 20) < 0.01);
}

/* What was counted on a real system, call by call; sizes are spread a little. */
static void small_files(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_OPEN, 0, 1000);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 1000);
    history_ops(batch, "j", pid, OP_STAT, 0, 2000);
    history_ops(batch, "j", pid, OP_SEEK, 0, 2000);
    for (unsigned i = 0; i < 10; i++)
        history_ops(batch, "j", pid, OP_READ, (10 + 9 * i) * 1000, 100);
    history_ops(batch, "j", pid, OP_READ, 0, 1000);
}

static void shards(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_OPEN, 0, 3);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 3);
    history_ops(batch, "j", pid, OP_READ, MIB, 384);
    history_ops(batch, "j", pid, OP_READ, 0, 3);
}

static void checkpoint(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_CREATE, 0, 1);
    history_ops(batch, "j", pid, OP_WRITE, 4 * MIB, 64);
    history_ops(batch, "j", pid, OP_FSYNC, 0, 1);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 1);
    history_ops(batch, "j", pid, OP_RENAME, 0, 1);
}

static void check_sums(const struct profile_list *list)
{
    double ops[2] = {0}, bytes[2] = {0};

    for (uint32_t i = 0; i < list->count; i++) {
        const struct profile_share *share = &list->shares[i];

        ops[share->pipeline] += share->share_ops;
        bytes[share->pipeline] += share->share_bytes;
        assert_true(share->confidence >= 0 && share->confidence <= 1);
        assert_true(share->evidence_count > 0);
    }
    for (unsigned kind = 0; kind < 2; kind++) {
        assert_true(fabs(ops[kind] - 1) < 1e-9);
        assert_true(isnan(bytes[kind]) || fabs(bytes[kind] - 1) < 1e-9);
    }
}

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
    check_sums(list);
}

static void processes_are_told_apart(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    small_files(batch, 11);
    shards(batch, 12);
    checkpoint(batch, 13);
    classify(batch, &list);
    check_blend(&list, 0.001, 0.8);
    assert_false(classified_says(classified_find(&list, "shard-streaming"), "may as well")); /* nobody else could have done it */
    profile_list_clear(&list);
}

static void totals_are_unmixed(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    small_files(batch, 0);
    shards(batch, 0);
    checkpoint(batch, 0);
    classify(batch, &list);
    check_blend(&list, 0.01, 0.7);
    assert_true(classified_says(classified_find(&list, "shard-streaming"), "may as well be cv-training"));
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

        small_files(batch, 0);
        shards(batch, 0);
        checkpoint(batch, 0);
        classified(&catalogue, batch, true, &lists[i]);
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

    small_files(batch, 11);
    shards(batch, 12);
    classified(&catalogue, batch, true, &list);
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

    small_files(batch, 0);
    shards(batch, 0);
    history_ops(batch, "j", 0, OP_SETATTR, 0, strange);
    history_ops(batch, "j", 0, OP_TRUNCATE, 0, strange);
    classified(&catalogue, batch, true, &list);
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
        classified(&catalogue, batch, true, &list);
        assert_true(ops > 20 ? classified_find(&list, PROFILE_UNKNOWN)->residual < RESIDUAL_P
                             : isnan(classified_find(&list, PROFILE_UNKNOWN)->residual));
        profile_list_clear(&list);
    }
}

static void confidence_is_bounded(void **state)
{
    struct part part = {.ok = {[OP_READ] = 100}, .summed = 100, .rejected = 90};
    double large = confidence_of_part(&part, true, 0.9, NAN);

    assert_true(confidence_of_match(0.6) < confidence_of_match(0.9) && confidence_of_match(1) < 1);
    assert_true(large > confidence_of_part(&part, true, 0.02, NAN)); /* small parts are more often wrong, */
    assert_true(large > confidence_of_part(&part, true, 0.9, 0.01)); /* and those of sums that are not all explained, */
    part.contested = 50;
    assert_true(large > confidence_of_part(&part, true, 0.9, NAN)); /* and those that may as well be another's */
    for (unsigned i = 0; i < 2; i++) {
        double unknown = confidence_of_part(&part, false, 0.5, i ? 0.01 : 0.5);

        assert_true(unknown > 0 && unknown < 1);
    }
    part.summed = 0; /* now a process's: half of what broke a bound may be its profile's */
    assert_true(fabs(confidence_of_part(&part, false, 0.5, NAN) - 0.55) < 1e-9);
}

static void check_unknown(struct batch *batch)
{
    struct profile_list list;
    const struct profile_share *unknown;

    classify(batch, &list);
    unknown = classified_find(&list, PROFILE_UNKNOWN);
    assert_non_null(unknown);
    assert_true(unknown->share_ops > 0.95);
    check_sums(&list);
    profile_list_clear(&list);
}

/* gcc -c of a file with a few includes: searching directories fails a lot. */
static void compiling_is_unknown(void **state)
{
    for (uint32_t pid = 0; pid < 2; pid++) {
        struct batch *batch = history_batch(0);

        for (unsigned runs = 0; runs < 20; runs++) {
            uint32_t process = pid ? pid + runs : 0;

            history_errors(batch, "j", process, OP_STAT, 0, 1149);
            history_ops(batch, "j", process, OP_STAT, 0, 156);
            history_errors(batch, "j", process, OP_OPEN, 0, 152);
            history_ops(batch, "j", process, OP_OPEN, 0, 117);
            history_ops(batch, "j", process, OP_CLOSE, 0, 120);
            history_ops(batch, "j", process, OP_READ, 832, 55);
            history_ops(batch, "j", process, OP_READ, 12000, 57);
            history_ops(batch, "j", process, OP_WRITE, 700, 9);
        }
        check_unknown(batch);
    }
}

/* git status: half of the opens are .gitignore files that are not there. */
static void version_control_is_unknown(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_STAT, 0, 2500);
    history_errors(batch, "j", 9, OP_STAT, 0, 600);
    history_ops(batch, "j", 9, OP_OPEN, 0, 400);
    history_errors(batch, "j", 9, OP_OPEN, 0, 380);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 400);
    history_ops(batch, "j", 9, OP_READDIR, 0, 700);
    history_ops(batch, "j", 9, OP_READ, 400, 60);
    history_ops(batch, "j", 9, OP_READ, 0, 60);
    check_unknown(batch);
}

/* Pages of 8 KiB, a log that is forced to disk often. */
static void databases_are_unknown(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_READ, 8 * KIB, 20000);
    history_ops(batch, "j", 9, OP_WRITE, 8 * KIB, 9000);
    history_ops(batch, "j", 9, OP_FSYNC, 0, 3000);
    history_ops(batch, "j", 9, OP_SEEK, 0, 500);
    history_ops(batch, "j", 9, OP_OPEN, 0, 40);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 40);
    check_unknown(batch);
}

static void a_walk_is_a_scan(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_STAT, 0, 60645);
    history_ops(batch, "j", 9, OP_READDIR, 0, 6588);
    history_ops(batch, "j", 9, OP_OPEN, 0, 3318);
    history_errors(batch, "j", 9, OP_OPEN, 0, 13);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 3318);
    classify(batch, &list);
    assert_string_equal(list.shares[0].profile, "ingest-scan");
    assert_true(list.shares[0].share_ops > 0.95);
    assert_true(isnan(list.shares[0].share_bytes)); /* nothing was moved */
    profile_list_clear(&list);
}

/* A walk that changes what it finds, as chown -R does, is one; so is who changes a list of names, as xargs chmod. */
static void a_walk_may_change_attributes(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_SETATTR, 0, 60000);
        history_ops(batch, "j", 9, OP_STAT, 0, i ? 2 : 63000);
        history_ops(batch, "j", 9, OP_READDIR, 0, i ? 0 : 6600);
        history_ops(batch, "j", 9, OP_OPEN, 0, i ? 12 : 3300);
        history_ops(batch, "j", 9, OP_CLOSE, 0, i ? 12 : 3300);
        history_ops(batch, "j", 9, OP_READ, 832, 1);
        classify(batch, &list);
        assert_string_equal(list.shares[0].profile, "ingest-scan");
        assert_true(list.shares[0].share_ops > 0.95);
        profile_list_clear(&list);
    }
}

/* Files lack extended attributes, and a walk that asks for these looks for no name that is not there. */
static void an_attribute_that_is_lacking_is_no_name(void **state)
{
    static const int codes[] = {ENOENT, ENODATA};
    struct profile_list list;

    for (unsigned i = 0; i < 2; i++) {
        struct batch *batch = history_batch(0);
        double share;

        history_ops(batch, "j", 0, OP_STAT, 0, 50000);
        history_errors(batch, "j", 0, OP_STAT, codes[i], 45000);
        history_ops(batch, "j", 0, OP_READDIR, 0, 4000);
        history_ops(batch, "j", 0, OP_OPEN, 0, 1000);
        history_ops(batch, "j", 0, OP_CLOSE, 0, 1000);
        classify(batch, &list);
        share = classified_find(&list, "ingest-scan") ? classified_find(&list, "ingest-scan")->share_ops : 0;
        assert_true(codes[i] == ENODATA ? share > 0.95 : share < 0.6);
        profile_list_clear(&list);
    }
}

static void large_samples_are_not_small_files(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_OPEN, 0, 500);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 500);
    history_ops(batch, "j", 9, OP_STAT, 0, 1000);
    history_ops(batch, "j", 9, OP_SEEK, 0, 1000);
    history_ops(batch, "j", 9, OP_READ, 320000, 250);
    history_ops(batch, "j", 9, OP_READ, 440000, 250);
    history_ops(batch, "j", 9, OP_READ, 0, 500);
    classify(batch, &list);
    assert_string_equal(list.shares[0].profile, "cv-training");
    assert_true(list.shares[0].share_bytes > 0.95);
    assert_null(classified_find(&list, "losf"));
    profile_list_clear(&list);
}

/* A second of two jobs, or of one after the other; each reads small files or streams, and the same time. */
static void second(struct batch *batch, bool small, bool stream)
{
    if (small)
        small_files(batch, 11);
    if (stream)
        shards(batch, 12);
    for (uint32_t i = 0; i < batch->record_count; i++)
        batch->records[i].latency_sum_ns = batch->records[i].op == OP_READ ? 500000000 : 0;
}

static void check_index(bool together, double effective)
{
    struct aggregate totals = {0};
    struct profile_list list;
    struct blend blend;

    for (int at = 0; at < 10; at++) {
        struct batch *batch = history_batch(at);

        second(batch, together || at % 2, together || at % 2 == 0);
        history_into(&totals, batch);
    }
    assert_int_equal(aggregate_sort(&totals), 0);
    assert_int_equal(classify_job(&catalogue, &totals.jobs[0], false, &list), 0);
    assert_int_equal(blend_of(&totals, &list, catalogue.count + 1, &blend), 0);
    assert_true(fabs(blend.effective - effective) < 0.01);
    assert_true(fabs(blend.blend - (1 - 1 / effective)) < 0.01);
    assert_int_equal(blend.meeting_count, 0); /* one job meets nobody */
    blend_clear(&blend);
    profile_list_clear(&list);
    aggregate_clear(&totals);
}

/* Two at once and evenly: 2; the same two in one process's time, which divides each slot alike, are 2 as well. */
static void blends_are_measured(void **state)
{
    check_index(true, 2);
}

static void job_second(struct aggregate *totals, int at, bool loud)
{
    struct batch *batch = history_batch(at);

    history_ops(batch, "quiet", 5, OP_READ, 65536, 100);
    if (loud)
        history_ops(batch, "loud", 6, OP_READ, MIB, 100);
    for (uint32_t i = 0; i < batch->record_count; i++)
        batch->records[i].latency_sum_ns = loud ? 3000000 : 1000000;
    history_into(totals, batch);
}

/* 10 us an operation alone, 30 us together: 2 ms more in each of five seconds. */
static void victims_are_told_their_price(void **state)
{
    struct aggregate totals = {0};
    struct profile_list lists[2];
    struct blend blend;

    for (int at = 0; at < 10; at++)
        job_second(&totals, at, at % 2);
    assert_int_equal(aggregate_sort(&totals), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(classify_job(&catalogue, &totals.jobs[i], false, &lists[i]), 0);
    assert_int_equal(blend_of(&totals, lists, catalogue.count + 1, &blend), 0);
    assert_int_equal(blend.meeting_count, 2);
    assert_string_equal(totals.jobs[blend.meetings[0].victim].name, "quiet");
    assert_true(fabs(blend.meetings[0].seconds - 5) < 1e-9);
    assert_true(fabs(blend.meetings[0].together_ns - 30000) < 1);
    assert_true(fabs(blend.meetings[0].alone_ns - 10000) < 1);
    assert_true(fabs(blend.meetings[0].cost_s - 0.01) < 1e-9);
    assert_true(isnan(blend.meetings[1].alone_ns)); /* the loud one never was alone */
    blend_clear(&blend);
    for (uint32_t i = 0; i < 2; i++)
        profile_list_clear(&lists[i]);
    aggregate_clear(&totals);
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
        "{\"name\": \"x\", \"kind\": \"pipeline\", \"confidence\": 1, \"requires\": "
        "[{\"feature\": \"whole.name\", \"min\": 1}]}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_true(catalogue_add(&catalogue, "a test", bad[i], strlen(bad[i])) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmixing_by_hand),
        cmocka_unit_test(a_floor_is_sure),
        cmocka_unit_test(companions_take_what_is_left),
        cmocka_unit_test(a_little_that_is_left_goes_with_what_was_found),
        cmocka_unit_test(a_trace_is_not_drowned),
        cmocka_unit_test(processes_are_told_apart),
        cmocka_unit_test(totals_are_unmixed),
        cmocka_unit_test(sums_have_intervals),
        cmocka_unit_test(processes_have_no_intervals),
        cmocka_unit_test(what_is_left_over_is_tested),
        cmocka_unit_test(what_is_unknown_is_tested_if_it_is_enough),
        cmocka_unit_test(confidence_is_bounded),
        cmocka_unit_test(compiling_is_unknown),
        cmocka_unit_test(version_control_is_unknown),
        cmocka_unit_test(databases_are_unknown),
        cmocka_unit_test(a_walk_is_a_scan),
        cmocka_unit_test(a_walk_may_change_attributes),
        cmocka_unit_test(an_attribute_that_is_lacking_is_no_name),
        cmocka_unit_test(large_samples_are_not_small_files),
        cmocka_unit_test(blends_are_measured),
        cmocka_unit_test(victims_are_told_their_price),
        cmocka_unit_test(who_does_next_to_nothing_is_in_nobodys_way),
        cmocka_unit_test(a_bad_profile_is_refused),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
