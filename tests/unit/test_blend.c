/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who overlaps whom, and what it costs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/blend.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define MIB UINT64_C(1048576)

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
        assert_int_equal(classify_job(&classified_by, &totals.jobs[i], false, &lists[i]), 0);
    assert_int_equal(blend_of(&totals, lists, classified_by.count + 1, &blend), 0);
    for (uint32_t i = 0; i < blend.meeting_count; i++)
        assert_string_equal(totals.jobs[blend.meetings[i].victim].name, "agent");
    blend_clear(&blend);
    for (uint32_t i = 0; i < 2; i++)
        profile_list_clear(&lists[i]);
    aggregate_clear(&totals);
}

/* A second of two jobs, or of one after the other; each reads small files or streams, and the same time. */
static void second(struct batch *batch, bool small, bool stream)
{
    if (small)
        history_small_files(batch, 11);
    if (stream)
        history_shards(batch, 12);
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

        second(batch, together || at >= 5, together || at < 5);
        history_into(&totals, batch);
    }
    assert_int_equal(aggregate_sort(&totals), 0);
    assert_int_equal(classify_job(&classified_by, &totals.jobs[0], false, &list), 0);
    assert_int_equal(blend_of(&totals, &list, classified_by.count + 1, &blend), 0);
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

/* One process after the other: a job that streams shards for five seconds, and reads small files in the next five. */
static void what_comes_one_after_the_other_is_no_blend(void **state)
{
    check_index(false, 1);
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
        assert_int_equal(classify_job(&classified_by, &totals.jobs[i], false, &lists[i]), 0);
    assert_int_equal(blend_of(&totals, lists, classified_by.count + 1, &blend), 0);
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

/* A second of one job, of the other one, or of both: they take longer when both are there. */
static void shift(struct aggregate *totals, int at, char who)
{
    struct batch *batch = history_batch(at);

    if (who != 'b')
        history_ops(batch, "a", 5, OP_READ, 65536, 100);
    if (who != 'a')
        history_ops(batch, "b", 6, OP_READ, MIB, 100);
    for (uint32_t i = 0; i < batch->record_count; i++)
        batch->records[i].latency_sum_ns = who == '2' ? 300000000 : 100000000;
    history_into(totals, batch);
}

/* In how many seconds of a word two jobs have met. */
static double seconds_met(const char *word)
{
    struct aggregate totals = {0};
    struct profile_list lists[2];
    struct blend blend;
    double seconds;

    for (int at = 0; word[at]; at++)
        shift(&totals, at, word[at]);
    assert_int_equal(aggregate_sort(&totals), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(classify_job(&classified_by, &totals.jobs[i], false, &lists[i]), 0);
    assert_int_equal(blend_of(&totals, lists, classified_by.count + 1, &blend), 0);
    seconds = blend.meeting_count ? blend.meetings[0].seconds : 0;
    blend_clear(&blend);
    for (uint32_t i = 0; i < 2; i++)
        profile_list_clear(&lists[i]);
    aggregate_clear(&totals);
    return seconds;
}

static void who_comes_when_the_other_one_goes_has_not_met_it(void **state)
{
    assert_true(seconds_met("aaa2bbb2aaa2bbb") == 0);
    assert_true(seconds_met("aaa2aaa2aaa2aaa") == 3);
    assert_true(seconds_met("aaa222bbb") == 3);
    assert_true(seconds_met("aaa222aaa2") == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blends_are_measured),
        cmocka_unit_test(what_comes_one_after_the_other_is_no_blend),
        cmocka_unit_test(victims_are_told_their_price),
        cmocka_unit_test(who_comes_when_the_other_one_goes_has_not_met_it),
        cmocka_unit_test(who_does_next_to_nothing_is_in_nobodys_way),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
