/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who overlaps whom, and what it costs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyzer/blend.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define MIB UINT64_C(1048576)

/* Of two jobs. */
static void blend_two(struct aggregate *totals, struct profile_list lists[2], struct blend *blend)
{
    assert_int_equal(aggregate_sort(totals), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(classify_job(&classified_by, &totals->jobs[i], false, &lists[i]), 0);
    assert_int_equal(blend_of(totals, lists, classified_by.count + 1, blend), 0);
}

static void clear_two(struct aggregate *totals, struct profile_list lists[2], struct blend *blend)
{
    blend_clear(blend);
    for (uint32_t i = 0; i < 2; i++)
        profile_list_clear(&lists[i]);
    aggregate_clear(totals);
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
    blend_two(&totals, lists, &blend);
    for (uint32_t i = 0; i < blend.meeting_count; i++)
        assert_string_equal(totals.jobs[blend.meetings[i].victim].name, "agent");
    clear_two(&totals, lists, &blend);
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

/* The figures of one job's blend, whose totals are cleared. */
static struct blend blend_one(struct aggregate *totals)
{
    struct profile_list list;
    struct blend blend, figures;

    assert_int_equal(aggregate_sort(totals), 0);
    assert_int_equal(classify_job(&classified_by, &totals->jobs[0], false, &list), 0);
    assert_int_equal(blend_of(totals, &list, classified_by.count + 1, &blend), 0);
    figures = blend;
    figures.meetings = NULL;
    blend_clear(&blend);
    profile_list_clear(&list);
    aggregate_clear(totals);
    return figures;
}

static void check_index(bool together, double effective)
{
    struct aggregate totals = {0};
    struct blend blend;

    for (int at = 0; at < 10; at++) {
        struct batch *batch = history_batch(at);

        second(batch, together || at >= 5, together || at < 5);
        history_into(&totals, batch);
    }
    blend = blend_one(&totals);
    assert_true(fabs(blend.effective - effective) < 0.01);
    assert_true(fabs(blend.blend - (1 - 1 / effective)) < 0.01);
    assert_int_equal(blend.meeting_count, 0); /* one job meets nobody */
}

/* Whether most of the time of a job is of processes that did several things each. Two processes: each does its own. */
static double mingled(uint32_t pid, uint32_t other)
{
    struct aggregate totals = {0};

    for (int at = 0; at < 10; at++) {
        struct batch *batch = history_batch(at);

        if (at < 5)
            history_small_files(batch, pid);
        else
            history_shards(batch, other);
        for (uint32_t i = 0; i < batch->record_count; i++)
            batch->records[i].latency_sum_ns = batch->records[i].op == OP_READ ? 500000000 : 0;
        history_into(&totals, batch);
    }
    return blend_one(&totals).mingled;
}

static void what_one_process_does_is_not_told_apart_in_time(void **state)
{
    (void)state;
    assert_true(mingled(11, 12) < 0.1);
    assert_true(mingled(11, 11) > 0.9);
    assert_true(mingled(0, 0) > 0.9);
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

/* Two processes that read one after the other, each so long in each second; how many profiles that is at a time. */
static double one_after_the_other(uint64_t (*small_ns)(int at), uint64_t (*stream_ns)(int at))
{
    struct aggregate totals = {0};

    for (int at = 0; at < 20; at++) {
        struct batch *batch = history_batch(at);

        if (small_ns(at))
            history_small_files(batch, 11);
        if (stream_ns(at))
            history_shards(batch, 12);
        for (uint32_t i = 0; i < batch->record_count; i++) {
            struct record *record = &batch->records[i];
            uint64_t time = batch->processes[record->process].pid == 11 ? small_ns(at) : stream_ns(at);

            record->latency_sum_ns = record->op == OP_READ ? time : 0;
        }
        history_into(&totals, batch);
    }
    return blend_one(&totals).effective;
}

static uint64_t in_the_second_half(int at)
{
    return at < 10 ? 1000 : 900000000;
}

static uint64_t in_the_first_half(int at)
{
    return at < 10 ? 900000000 : 1000;
}

static uint64_t once_and_later(int at)
{
    return at == 0 ? 500000000 : at >= 6 && at < 10 ? 900000000 : 0;
}

static uint64_t after_that(int at)
{
    return at < 10 ? 0 : 900000000;
}

/* Both are there all the time: each does next to nothing in the other's half. */
static void waiting_is_no_blend(void **state)
{
    assert_true(fabs(one_after_the_other(in_the_second_half, in_the_first_half) - 1) < 0.01);
}

/* What is far from the middle of all that a process does is still of who was there. */
static void what_comes_early_is_of_who_was_there(void **state)
{
    assert_true(fabs(one_after_the_other(once_and_later, after_that) - 1) < 0.01);
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
    blend_two(&totals, lists, &blend);
    assert_int_equal(blend.meeting_count, 2);
    assert_string_equal(totals.jobs[blend.meetings[0].victim].name, "quiet");
    assert_true(fabs(blend.meetings[0].seconds - 5) < 1e-9);
    assert_true(fabs(blend.meetings[0].together_ns - 30000) < 1);
    assert_true(fabs(blend.meetings[0].alone_ns - 10000) < 1);
    assert_true(fabs(blend.meetings[0].cost_s - 0.01) < 1e-9);
    assert_true(isnan(blend.meetings[1].alone_ns)); /* the loud one never was alone */
    clear_two(&totals, lists, &blend);
}

/* A daemon does some quick things in each second, so that nobody would ever have a second of its own. */
static void who_takes_no_time_takes_no_solitude(void **state)
{
    struct aggregate totals = {0};
    struct profile_list lists[3] = {0};
    const struct meeting *meeting = NULL;
    struct blend blend;

    for (int at = 0; at < 10; at++) {
        struct batch *batch = history_batch(at);

        history_ops(batch, "daemon", 7, OP_STAT, 0, 50);
        batch->records[0].latency_sum_ns = 5000; /* 0.5 % of the quiet one's time */
        history_into(&totals, batch);
        job_second(&totals, at, at % 2);
    }
    assert_int_equal(aggregate_sort(&totals), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(classify_job(&classified_by, &totals.jobs[i], false, &lists[i]), 0);
    assert_int_equal(blend_of(&totals, lists, classified_by.count + 1, &blend), 0);
    for (uint32_t i = 0; i < blend.meeting_count && !meeting; i++)
        if (strcmp(totals.jobs[blend.meetings[i].victim].name, "quiet") == 0)
            meeting = &blend.meetings[i];
    assert_non_null(meeting);
    assert_string_equal(totals.jobs[meeting->other].name, "loud");
    assert_true(meeting->alone_slots == 5 && fabs(meeting->cost_s - 0.01) < 1e-9);
    profile_list_clear(&lists[2]);
    clear_two(&totals, lists, &blend);
}

/* What the quiet job does in a second, each of it so long. */
struct deed {
    enum operation op;
    uint64_t size, count, each_ns;
};

#define DEEDS 3

/* Ten seconds of it, alone and beside the loud one in turns; the quiet one's meeting. */
static struct meeting meeting_of(const struct deed alone[DEEDS], const struct deed together[DEEDS])
{
    struct aggregate totals = {0};
    struct profile_list lists[2] = {0};
    struct meeting meeting = {0};
    struct blend blend;

    for (int at = 0; at < 10; at++) {
        struct batch *batch = history_batch(at);
        const struct deed *deeds = at % 2 ? together : alone;

        for (unsigned i = 0; i < DEEDS && deeds[i].count; i++) {
            history_ops(batch, "quiet", 5, deeds[i].op, deeds[i].size, deeds[i].count);
            batch->records[i].latency_sum_ns = deeds[i].count * deeds[i].each_ns;
        }
        if (at % 2)
            history_ops(batch, "loud", 6, OP_READ, MIB, 1000);
        history_into(&totals, batch);
    }
    blend_two(&totals, lists, &blend);
    for (uint32_t i = 0; i < blend.meeting_count; i++)
        if (strcmp(totals.jobs[blend.meetings[i].victim].name, "quiet") == 0)
            meeting = blend.meetings[i];
    assert_int_equal(meeting.slots, 5);
    clear_two(&totals, lists, &blend);
    return meeting;
}

/* It reads larger pieces then, or writes, which takes longer by itself. */
static void who_does_something_else_then_is_not_slowed_down(void **state)
{
    const struct deed small[DEEDS] = {{OP_READ, 65536, 1000, 100000}};
    const struct deed large[DEEDS] = {{OP_READ, 4 * MIB, 100, 4000000}};
    const struct deed writes[DEEDS] = {{OP_WRITE, 65536, 100, 5000000}};
    struct meeting meeting = meeting_of(small, large);

    assert_true(isnan(meeting.alone_ns) && isnan(meeting.alone_high_ns) && isnan(meeting.cost_s));
    assert_true(fabs(meeting.together_ns - 4e6) < 1);
    assert_true(meeting.compared_ops == 0);
    assert_int_equal(meeting.alone_slots, 5);
    meeting = meeting_of(small, writes);
    assert_true(isnan(meeting.alone_ns) && isnan(meeting.cost_s));
}

/* Each takes as long as ever, of what takes longer there is more. */
static void what_is_done_more_often_is_weighed_so(void **state)
{
    const struct deed few[] = {{OP_STAT, 0, 900, 10000}, {OP_RENAME, 0, 100, 2000000}, {OP_READ, 4096, 50, 10000}};
    const struct deed many[] = {{OP_STAT, 0, 100, 10000}, {OP_RENAME, 0, 900, 2000000}, {OP_READ, 4096, 50, 10000}};
    const struct deed slow[] = {{OP_STAT, 0, 100, 30000}, {OP_RENAME, 0, 900, 6000000}, {OP_READ, 4096, 50, 30000}};
    struct meeting meeting = meeting_of(few, many);

    assert_true(fabs(meeting.together_ns / meeting.alone_ns - 1) < 1e-9);
    assert_true(fabs(meeting.alone_high_ns / meeting.alone_low_ns - 1) < 1e-6);
    assert_true(fabs(meeting.cost_s) < 1e-9);
    meeting = meeting_of(few, slow);
    assert_true(fabs(meeting.together_ns / meeting.alone_ns - 3) < 1e-9);
    assert_true(fabs(meeting.cost_s - 5 * (100 * 20e-6 + 900 * 4e-3 + 50 * 20e-6)) < 1e-6);
}

/* One file is opened beside the other, none alone. */
static void what_is_not_done_alone_hides_nothing_else(void **state)
{
    const struct deed alone[DEEDS] = {{OP_READ, 65536, 100, 10000}},
                      together[DEEDS] = {{OP_READ, 65536, 100, 30000}, {OP_OPEN, 0, 1, 90000}};
    struct meeting meeting = meeting_of(alone, together);

    assert_true(fabs(meeting.alone_ns - 10000) < 1 && fabs(meeting.together_ns - 30000) < 1);
    assert_true(fabs(meeting.cost_s - 0.01) < 1e-9);
    assert_true(meeting.compared_ops == 500);
    assert_int_equal(meeting.compared_slots, 5);
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
    blend_two(&totals, lists, &blend);
    seconds = blend.meeting_count ? blend.meetings[0].seconds : 0;
    clear_two(&totals, lists, &blend);
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
        cmocka_unit_test(what_one_process_does_is_not_told_apart_in_time),
        cmocka_unit_test(blends_are_measured),
        cmocka_unit_test(what_comes_one_after_the_other_is_no_blend),
        cmocka_unit_test(waiting_is_no_blend),
        cmocka_unit_test(what_comes_early_is_of_who_was_there),
        cmocka_unit_test(victims_are_told_their_price),
        cmocka_unit_test(who_takes_no_time_takes_no_solitude),
        cmocka_unit_test(who_does_something_else_then_is_not_slowed_down),
        cmocka_unit_test(what_is_done_more_often_is_weighed_so),
        cmocka_unit_test(what_is_not_done_alone_hides_nothing_else),
        cmocka_unit_test(who_comes_when_the_other_one_goes_has_not_met_it),
        cmocka_unit_test(who_does_next_to_nothing_is_in_nobodys_way),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
