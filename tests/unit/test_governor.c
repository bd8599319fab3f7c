/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/governor.h"

#define LIMIT 0.01
#define DEAR  0.02
#define CHEAP 0.001

/* So many intervals at a price, measured when the governor asks for it. The step after the last. */
static enum probe_step run(struct governor *governor, double price, unsigned intervals)
{
    enum probe_step step = governor->step;

    while (intervals--) {
        bool whole = governor_measures(governor);

        step = governor_interval(governor, whole ? price : 0, whole);
    }
    return step;
}

static void three_dear_intervals_are_a_step_down(void **state)
{
    struct governor governor;

    governor_init(&governor, LIMIT);
    assert_int_equal(run(&governor, DEAR, 2), PROBE_FULL);
    assert_int_equal(run(&governor, DEAR, 1), PROBE_JOB_KEYS);
    assert_int_equal(run(&governor, DEAR, 4), PROBE_METADATA_ONLY);
    assert_int_equal(run(&governor, DEAR, 4), PROBE_DETACHED);
    assert_int_equal(run(&governor, DEAR, 9), PROBE_DETACHED);
}

static void it_climbs_back_one_by_one(void **state)
{
    struct governor governor;

    governor_init(&governor, LIMIT);
    run(&governor, DEAR, 12);
    assert_int_equal(governor.step, PROBE_DETACHED);
    assert_int_equal(run(&governor, CHEAP, 3), PROBE_METADATA_ONLY);
    assert_int_equal(run(&governor, CHEAP, 6), PROBE_JOB_KEYS);
    assert_int_equal(run(&governor, CHEAP, 6), PROBE_FULL);
    assert_int_equal(run(&governor, CHEAP, 1000), PROBE_FULL);
}

static void two_dear_intervals_are_none(void **state)
{
    struct governor governor;

    governor_init(&governor, LIMIT);
    for (unsigned i = 0; i < 100; i++) {
        while (!governor_measures(&governor))
            governor_interval(&governor, CHEAP, false);
        governor_interval(&governor, DEAR, true);
        governor_interval(&governor, DEAR, true);
        assert_int_equal(governor_interval(&governor, CHEAP, true), PROBE_FULL);
    }
}

/* A little below the limit is no reason to watch more. */
static void near_the_limit_it_stays(void **state)
{
    struct governor governor;

    governor_init(&governor, LIMIT);
    run(&governor, DEAR, 3);
    assert_int_equal(run(&governor, LIMIT * 0.9, 1000), PROBE_JOB_KEYS);
}

/* Cheap while detached and dear as soon as it is not: tries become rare. */
static void vain_climbs_become_rare(void **state)
{
    struct governor governor;
    unsigned attached = 0;

    governor_init(&governor, LIMIT);
    for (unsigned i = 0; i < 4000; i++) {
        bool detached = governor.step == PROBE_DETACHED;

        attached += !detached;
        run(&governor, detached ? CHEAP : DEAR, 1);
    }
    assert_true(attached < 4000 / 10);
    /* and when it has become cheap, it does not take for ever */
    assert_int_equal(run(&governor, CHEAP, 1200), PROBE_FULL);
}

static void this_process_alone_can_be_too_dear(void **state)
{
    struct governor governor;

    governor_init(&governor, LIMIT);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(governor_interval(&governor, DEAR, false), PROBE_FULL);
    assert_int_equal(governor_interval(&governor, DEAR, false), PROBE_JOB_KEYS);
}

static void measuring_is_rare_while_all_is_well(void **state)
{
    struct governor governor;
    unsigned measured = 0;

    governor_init(&governor, LIMIT);
    for (unsigned i = 0; i < 1000; i++) {
        measured += governor_measures(&governor);
        run(&governor, CHEAP, 1);
    }
    assert_in_range(measured, 90, 110);
}

static void no_limit_is_no_limit(void **state)
{
    struct governor governor;

    governor_init(&governor, 0);
    assert_false(governor_measures(&governor));
    assert_int_equal(run(&governor, 1, 100), PROBE_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_dear_intervals_are_a_step_down),
        cmocka_unit_test(it_climbs_back_one_by_one),
        cmocka_unit_test(two_dear_intervals_are_none),
        cmocka_unit_test(near_the_limit_it_stays),
        cmocka_unit_test(vain_climbs_become_rare),
        cmocka_unit_test(this_process_alone_can_be_too_dear),
        cmocka_unit_test(measuring_is_rare_while_all_is_well),
        cmocka_unit_test(no_limit_is_no_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
