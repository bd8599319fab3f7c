/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/watched.h"
#include "tests/unit/history.h"

static void recordings_leave_holes(void **state)
{
    struct watched watched = {0};

    assert_false(watched_has_hole(&watched, 0, 99));
    assert_int_equal(watched_add(&watched, 10, 19), 0);
    assert_int_equal(watched_add(&watched, 20, 29), 0); /* the next interval */
    assert_int_equal(watched_add(&watched, 12, 25), 0); /* another node's */
    assert_int_equal(watched.count, 1);
    assert_int_equal(watched_add(&watched, 45, 60), 0);
    assert_int_equal(watched.count, 2);
    assert_false(watched_has_hole(&watched, 0, 9)); /* before anybody came is outside of the span */
    assert_false(watched_has_hole(&watched, 10, 29));
    assert_true(watched_has_hole(&watched, 29, 30));
    assert_true(watched_has_hole(&watched, 35, 40));
    assert_true(watched_has_hole(&watched, 44, 45));
    assert_false(watched_has_hole(&watched, 45, 99));
    watched_clear(&watched);
}

static void time_is_counted_without_holes(void **state)
{
    struct watched watched = {0};

    assert_true(fabs(watched_s(&watched, 1, 9.07) - 8.07) < 1e-9);
    for (int64_t from = 0; from < 1000; from += 100)
        assert_int_equal(watched_add(&watched, from, from + 75), 0); /* 7.6 s of 10 */
    assert_true(fabs(watched_s(&watched, 0, 100) - 78.4) < 1e-9);
    assert_true(fabs(watched_s(&watched, 1, 9) - 6.6) < 1e-9);
    assert_true(fabs(watched_s(&watched, 8, 12) - 2) < 1e-9);
    watched_clear(&watched);
}

static void windows_are_cut(void **state)
{
    struct watched watched = {0};

    for (int64_t from = 0; from < 1000; from += 100)
        assert_int_equal(watched_add(&watched, from, from + 75), 0);
    /* of ten windows of ten slots, three have the hole of 24 */
    assert_int_equal(watched_cut(&watched, 10, 0, 99), 27);
    assert_int_equal(watched_cut(&watched, 10, 8, 8), 1);
    assert_int_equal(watched_cut(&watched, 10, 0, 6), 0);
    /* a window with several holes is one window */
    assert_int_equal(watched_cut(&watched, 500, 0, 1), 2);
    watched_clear(&watched);
}

static void what_comes_late_closes_holes(void **state)
{
    struct watched watched = {0};

    assert_int_equal(watched_add(&watched, 0, 9), 0);
    assert_int_equal(watched_add(&watched, 20, 29), 0);
    assert_int_equal(watched_add(&watched, 40, 49), 0);
    assert_int_equal(watched_add(&watched, 5, 15), 0);
    assert_true(watched_has_hole(&watched, 0, 9) == false);
    assert_false(watched_has_hole(&watched, 12, 45));
    watched_clear(&watched);
}

/* However much was told, in how many batches. */
static void what_was_lost_is_never_below_0(void **state)
{
    const struct dropped range = {.stream = "0123456789abcdef0123456789abcdef", .first = 1, .last = 1,
                                  .ops = INT64_MAX, .why = "quota"};
    struct aggregate totals = {0};

    for (int second = 0; second < 3; second++) {
        struct batch *batch = history_batch(second);

        batch->coverage.lost = batch->coverage.shed_ms[SHED_DETACHED] = INT64_MAX;
        assert_int_equal(batch_dropped(batch, &range, 1), 0);
        history_into(&totals, batch);
    }
    assert_true(totals.lost == INT64_MAX && totals.dropped_ops == INT64_MAX);
    assert_true(totals.shed_ms[SHED_DETACHED] == INT64_MAX);
    aggregate_clear(&totals);
}

static void add_sum(struct aggregate *totals, const char *stream, uint64_t seq, int second, int seconds)
{
    struct batch *batch = history_batch(second);

    batch->rolled = true;
    batch->interval_ms = 3600000;
    batch->duration_ns = (uint64_t)seconds * 1000000000;
    batch->seq = seq;
    assert_int_equal(batch_set(batch, &batch->stream, stream), 0);
    history_into(totals, batch);
}

/* What came late for an hour is a sum of its own, of which a part of it was made before the other's last, and which may
   lie within that; a clock that is set shows in another hour's. */
static void late_sums_are_no_clock_that_is_set(void **state)
{
    static const struct {
        const char *stream; /* of the one that came late */
        uint64_t next;      /* the number that the next hour has */
        bool set_back;
    } cases[] = {{"a", 500, false}, {"b", 500, false}, {"a", 150, true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct aggregate totals = {.grouping = GROUP_JOB};

        add_sum(&totals, "a", 300, 60, 1800);
        add_sum(&totals, cases[i].stream, 120, 600, 700);
        add_sum(&totals, cases[i].stream, 200, 2400, 60);
        add_sum(&totals, "a", cases[i].next, 3600, 3600);
        assert_int_equal(totals.node_count, 1);
        assert_int_equal(totals.nodes[0].set_back, cases[i].set_back);
        assert_int_equal(totals.twice_ns, 0);
        aggregate_clear(&totals);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_leave_holes),
        cmocka_unit_test(time_is_counted_without_holes),
        cmocka_unit_test(windows_are_cut),
        cmocka_unit_test(what_comes_late_closes_holes),
        cmocka_unit_test(what_was_lost_is_never_below_0),
        cmocka_unit_test(late_sums_are_no_clock_that_is_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
