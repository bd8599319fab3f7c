/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/filling.h"

#define GB     1000000000.0
#define DAY_NS 86400000000000LL
#define START  (20000 * DAY_NS)
#define TOTAL  (1000 * GB)

/* At that day, which may be a fraction. */
static void add(struct filling *filling, double day, double used)
{
    const struct space space = {.total_bytes = (uint64_t)TOTAL, .used_bytes = (uint64_t)used};

    assert_int_equal(filling_add(filling, START + (int64_t)(day * (double)DAY_NS), &space), 0);
}

static struct growth growth_of(const struct filling *filling)
{
    struct growth growth;

    assert_int_equal(filling_growth(filling, &growth), 0);
    return growth;
}

static double day_of(int64_t ns)
{
    return (double)(ns - START) / (double)DAY_NS;
}

static void even_growth_tells_the_day(void **state)
{
    struct filling filling = {0};
    struct growth growth;

    for (int day = 0; day <= 20; day++)
        add(&filling, day, (100 + 10 * day) * GB);
    growth = growth_of(&filling);
    assert_true(growth.known && fabs(growth.value - 10 * GB) < 1);
    assert_true(fabs(growth.low - growth.high) < 1000);
    /* 300 GB on day 20, so 70 days more */
    assert_true(fabs(day_of(growth.early_ns) - 90) < 0.001 && fabs(day_of(growth.late_ns) - 90) < 0.001);
    filling_clear(&filling);
}

static void what_wavers_has_an_interval(void **state)
{
    struct filling filling = {0};
    struct growth growth;

    for (int day = 0; day <= 20; day++)
        add(&filling, day, (100 + 10 * day + (day % 2 ? 20 : -20)) * GB);
    growth = growth_of(&filling);
    assert_true(growth.known && growth.low < 9 * GB && growth.high > 11 * GB);
    assert_true(growth.low < growth.value && growth.value < growth.high);
    assert_true(growth.early_ns < growth.late_ns);
    filling_clear(&filling);
}

static void less_than_two_weeks_tell_nothing(void **state)
{
    struct filling filling = {0};
    struct space space;

    assert_false(filling_last(&filling, &space));
    assert_false(growth_of(&filling).known);
    for (int day = 0; day < FILLING_DAYS_MIN; day++)
        add(&filling, day, (100 + day) * GB);
    assert_false(growth_of(&filling).known);
    add(&filling, FILLING_DAYS_MIN, 200 * GB);
    assert_true(growth_of(&filling).known);
    filling_clear(&filling);
}

static void what_shrinks_is_never_full(void **state)
{
    struct filling filling = {0};
    struct growth growth;

    for (int day = 0; day <= 20; day++)
        add(&filling, day, (500 - day) * GB);
    growth = growth_of(&filling);
    assert_true(growth.known && growth.value < 0);
    assert_true(growth.early_ns == 0 && growth.late_ns == 0);
    filling_clear(&filling);
}

/* Every five minutes for a month are more than are kept. */
static void points_are_thinned_out(void **state)
{
    const int each_day = 288, days = 30;
    struct filling filling = {0};
    struct growth growth;
    struct space space;

    for (int i = 0; i < days * each_day; i++)
        add(&filling, (double)i / each_day, (100 + 10.0 * i / each_day) * GB);
    assert_true(filling.count > FILLING_POINTS / 4 && filling.count <= FILLING_POINTS);
    for (uint32_t i = 1; i < filling.count; i++)
        assert_true(filling.points[i].ns > filling.points[i - 1].ns);
    assert_true(filling_last(&filling, &space));
    assert_int_equal(space.used_bytes, (uint64_t)((100 + 10.0 * (days * each_day - 1) / each_day) * GB));
    growth = growth_of(&filling);
    assert_true(growth.known && fabs(growth.value - 10 * GB) < 0.05 * GB);
    filling_clear(&filling);
}

/* The same volume, of another node. */
static void the_same_moment_counts_once(void **state)
{
    struct filling filling = {0};
    struct space space;

    add(&filling, 1, 10 * GB);
    add(&filling, 1, 20 * GB);
    add(&filling, 0.5, 30 * GB);
    assert_int_equal(filling.count, 1);
    assert_true(filling_last(&filling, &space));
    assert_int_equal(space.used_bytes, (uint64_t)(20 * GB));
    filling_clear(&filling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_growth_tells_the_day),
        cmocka_unit_test(what_wavers_has_an_interval),
        cmocka_unit_test(less_than_two_weeks_tell_nothing),
        cmocka_unit_test(what_shrinks_is_never_full),
        cmocka_unit_test(points_are_thinned_out),
        cmocka_unit_test(the_same_moment_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
