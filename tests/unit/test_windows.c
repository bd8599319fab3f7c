/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/overlap.h"
#include "analyzer/windows.h"

#define SLOT_NS 100000000LL
#define START   17000000000LL /* number of a slot, and of windows of 1 s and 10 s as well */

static void near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.12g instead of %.12g", got, expected);
}

static const struct watched always = {0};

/* One interval of a second whose tenth `slot` has so many bytes read. */
static void add(struct windows *windows, int64_t slot, uint64_t bytes)
{
    const struct demand_slot amount = {{[DEMAND_READ_BYTES] = bytes, [DEMAND_READ_OPS] = bytes != 0}};
    int64_t start_ns = slot / 10 * 10 * SLOT_NS;
    struct flow flow = {0};

    assert_int_equal(flow_add(&flow, slot, &amount), 0);
    windows_cover(windows, start_ns, 10 * SLOT_NS);
    assert_int_equal(windows_add(windows, &always, start_ns, &flow), 0);
    flow_clear(&flow);
}

/* A burst each second: ten windows of 100 ms each, of which one is used. */
static void figures_by_hand(void **state)
{
    struct windows windows = {0};
    struct burst burst;

    for (int second = 0; second < 60; second++)
        add(&windows, START + 10 * second + second % 10, 1000);
    windows_finish(&windows, &always);
    windows_burst(&windows, &windows, MEASURE_BYTES, &burst);
    near(burst.peak_to_mean[0], 10);
    near(burst.idle[0], 0.9);
    near(burst.cv[0], 3); /* p = 0.1: sqrt((1 - p) / p) */
    near(burst.fano[0], 900);
    near(burst.peak_to_mean[1], 1);
    near(burst.cv[1], 0);
    near(burst.idle[1], 0);
    near(burst.peak_to_mean[2], 1);
    windows_burst(&windows, &windows, MEASURE_DATA_OPS, &burst);
    near(burst.fano[0], 0.9);
    windows_burst(&windows, &windows, MEASURE_WRITE_BYTES, &burst);
    assert_true(isnan(burst.peak_to_mean[0]));
    near(burst.idle[0], 1);
    windows_clear(&windows);
}

/* The same tenth of a second on two nodes is one window of the cluster; another one is another. */
static void nodes_add_up_at_the_same_instant(void **state)
{
    struct windows together = {0}, apart = {0};
    struct burst burst;

    for (int second = 0; second < 20; second++) {
        add(&together, START + 10 * second + 3, 500);
        add(&together, START + 10 * second + 3, 500);
        add(&apart, START + 10 * second + 3, 500);
        add(&apart, START + 10 * second + 4, 500);
    }
    windows_finish(&together, &always);
    windows_finish(&apart, &always);
    windows_burst(&together, &together, MEASURE_BYTES, &burst);
    near(burst.peak_to_mean[0], 10);
    windows_burst(&apart, &apart, MEASURE_BYTES, &burst);
    near(burst.peak_to_mean[0], 5);
    near(burst.idle[0], 0.8);
    windows_clear(&together);
    windows_clear(&apart);
}

static void a_slot_may_come_in_parts_and_a_little_late(void **state)
{
    struct windows windows = {0};
    struct burst burst;

    add(&windows, START + 9, 400);
    for (int second = 1; second < 4; second++)
        add(&windows, START + 10 * second, 1);
    {
        const struct demand_slot rest = {{[DEMAND_READ_BYTES] = 600}};
        struct flow flow = {0};

        assert_int_equal(flow_add(&flow, START + 9, &rest), 0);
        assert_int_equal(windows_add(&windows, &always, (START + 40) * SLOT_NS, &flow), 0);
        flow_clear(&flow);
    }
    windows_finish(&windows, &always);
    windows_burst(&windows, &windows, MEASURE_BYTES, &burst);
    near(burst.peak_to_mean[0], 1000 / (1003 / 40.0));
    windows_clear(&windows);
}

static void memory_is_that_of_an_interval(void **state)
{
    struct windows windows = {0};
    struct burst burst;

    for (int second = 0; second < 200000; second++)
        add(&windows, START + 10 * second + 5, 7);
    assert_true(windows.pending.capacity < 1000);
    windows_finish(&windows, &always);
    windows_burst(&windows, &windows, MEASURE_BYTES, &burst);
    near(burst.peak_to_mean[0], 10);
    windows_clear(&windows);
}

/* From the sixth second to the thirty-fifth, as much each: the windows of 10 s at both ends have four and six. */
static void windows_that_the_span_cuts_do_not_count(void **state)
{
    struct windows windows = {0};
    struct burst burst;

    for (int second = 6; second < 36; second++)
        add(&windows, START + 10 * second + 5, 1000);
    windows_finish(&windows, &always);
    windows_burst(&windows, &windows, MEASURE_BYTES, &burst);
    near(burst.peak_to_mean[2], 1);
    near(burst.cv[2], 0);
    near(burst.idle[2], 0);
    near(burst.peak_to_mean[1], 1);
    windows_clear(&windows);
    /* fourteen seconds have one whole window, which tells nothing */
    for (int second = 8; second < 22; second++)
        add(&windows, START + 10 * second + 5, 1000);
    windows_finish(&windows, &always);
    windows_burst(&windows, &windows, MEASURE_BYTES, &burst);
    assert_true(isnan(burst.peak_to_mean[2]) && isnan(burst.cv[2]) && isnan(burst.idle[2]));
    near(burst.peak_to_mean[0], 10);
    windows_clear(&windows);
}

/* Twenty-five seconds, nobody for fifteen, and thirty-five again. */
static void time_that_nobody_watched_is_not_idle(void **state)
{
    struct windows windows = {0};
    struct watched watched = {0};
    struct burst burst;

    for (int second = 0; second < 75; second++) {
        const struct demand_slot amount = {{[DEMAND_READ_BYTES] = 1000}};
        int64_t slot = START + 10 * second;
        struct flow flow = {0};

        if (second >= 25 && second < 40)
            continue;
        assert_int_equal(flow_add(&flow, slot + 5, &amount), 0);
        assert_int_equal(watched_add(&watched, slot, slot + 9), 0);
        windows_cover(&windows, slot * SLOT_NS, 10 * SLOT_NS);
        assert_int_equal(windows_add(&windows, &watched, slot * SLOT_NS, &flow), 0);
        flow_clear(&flow);
    }
    windows_finish(&windows, &watched);
    windows_burst(&windows, &windows, MEASURE_BYTES, &burst);
    near(burst.idle[0], 0.9);
    near(burst.idle[1], 0);
    for (unsigned w = 1; w < BURST_WINDOWS; w++) {
        near(burst.peak_to_mean[w], 1);
        near(burst.cv[w], 0);
    }
    windows_clear(&windows);
    watched_clear(&watched);
}

static void slots_that_lack_demand_are_not_complete(void **state)
{
    const struct demand_slot second = {{[DEMAND_READ_BYTES] = 1000, [DEMAND_READ_OPS] = 1}};
    struct windows windows = {0};
    struct series series = {0};

    assert_false(windows_complete(&windows, &series));
    for (int i = 0; i < 10; i++)
        assert_int_equal(series_add(&series, (START + 10 * i) * SLOT_NS, 1000000000, 1000, &second), 0);
    for (int i = 0; i < 9; i++)
        add(&windows, START + 10 * i, 1000);
    windows_finish(&windows, &always);
    assert_false(windows_complete(&windows, &series));
    add(&windows, START + 99, 1000);
    windows_finish(&windows, &always);
    assert_true(windows_complete(&windows, &series));
    windows_clear(&windows);
    series_clear(&series);
}

static void add_job(struct overlap *overlap, uint32_t job, int64_t slot)
{
    const struct demand_slot amount = {{[DEMAND_WRITE_BYTES] = 1}};
    struct flow flow = {0};

    assert_int_equal(flow_add(&flow, slot, &amount), 0);
    assert_int_equal(overlap_add(overlap, slot / 10 * 10 * SLOT_NS, job, &flow), 0);
    flow_clear(&flow);
}

static void jobs_overlap_by_tenths_of_a_second(void **state)
{
    struct overlap overlap = {0};

    assert_true(isnan(overlap_share(&overlap)));
    for (int second = 0; second < 1000; second++) {
        add_job(&overlap, 0, START + 10 * second + 2);
        add_job(&overlap, 0, START + 10 * second + 2); /* on another volume */
        add_job(&overlap, 1, START + 10 * second + 2 + second % 2);
        add_job(&overlap, 2, START + 10 * second + 7);
    }
    /* of 3 busy slots in one second and 2 in the next, one in two seconds is shared */
    near(overlap_share(&overlap), 1 / 5.0);
    assert_true(overlap.capacity < 1000);
    overlap_clear(&overlap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_by_hand),
        cmocka_unit_test(nodes_add_up_at_the_same_instant),
        cmocka_unit_test(a_slot_may_come_in_parts_and_a_little_late),
        cmocka_unit_test(memory_is_that_of_an_interval),
        cmocka_unit_test(windows_that_the_span_cuts_do_not_count),
        cmocka_unit_test(time_that_nobody_watched_is_not_idle),
        cmocka_unit_test(slots_that_lack_demand_are_not_complete),
        cmocka_unit_test(jobs_overlap_by_tenths_of_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
