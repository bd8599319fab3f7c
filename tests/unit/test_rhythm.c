/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "analyzer/rhythm.h"

#define SECONDS 960

static void add(struct series *series, int second, uint64_t bytes)
{
    struct demand_slot slot = {.demand = {[DEMAND_WRITE_BYTES] = bytes}};

    assert_int_equal(series_add(series, second * 1000000000LL, 1000000000, 1000, &slot), 0);
}

/* Every four minutes for nine seconds, and hardly anything between. */
static void spikes_and_their_period_are_found(void **state)
{
    struct series series = {0};
    struct rhythm r;

    for (int second = 0; second < SECONDS; second++)
        add(&series, second, second % 240 >= 100 && second % 240 < 109 ? 900 : 10);
    assert_int_equal(rhythm_of(&series, DEMAND_BYTES, 0, &r), 0);
    assert_int_equal(r.spike_count, 4);
    assert_true(fabs(r.period_s - 240) < 1e-9 && fabs(r.steadiness - 1) < 1e-9);
    assert_true(fabs(r.length_s - 9) < 1e-9 && fabs(r.bytes - 8100) < 1e-6);
    assert_true(r.mean / r.peak > 0.04 && r.mean / r.peak < 0.06);
    assert_int_equal(r.spikes[1].start_ms, 340000);
    series_clear(&series);
}

/* Every ten seconds for half a second, which lies in two slots: all of its bytes are the spike's, beyond the usual. */
static void spikes_have_what_lies_in_the_slots_beside_them(void **state)
{
    struct series series = {0};
    struct rhythm r;

    for (int second = 0; second < SECONDS; second++)
        add(&series, second, second % 10 == 4 ? 650 : second % 10 == 5 ? 250 : 50);
    assert_int_equal(rhythm_of(&series, DEMAND_BYTES, 0, &r), 0);
    assert_int_equal(r.spike_count, 96);
    assert_true(fabs(r.bytes - 850) < 1e-6 && fabs(r.length_s - 1 - 200 / 650.0) < 1e-9);
    assert_true(fabs(r.spikes[7].bytes - 850) < 1e-6 && r.spikes[7].start_ms == 74000);
    series_clear(&series);
    /* with a slot between two of them each has half of it */
    for (int second = 0; second < SECONDS; second++)
        add(&series, second, second % 20 == 4 || second % 20 == 6 ? 800 : second % 20 == 5 ? 300 : 0);
    assert_int_equal(rhythm_of(&series, DEMAND_BYTES, 0, &r), 0);
    assert_true(fabs(r.bytes - 950) < 1e-6);
    series_clear(&series);
}

static void even_demand_has_no_spikes(void **state)
{
    struct series series = {0};
    struct rhythm r;

    for (int second = 0; second < SECONDS; second++)
        add(&series, second, 100 + second % 7);
    assert_int_equal(rhythm_of(&series, DEMAND_BYTES, 0, &r), 0);
    assert_int_equal(r.spike_count, 0);
    assert_true(isnan(r.period_s) && r.ramp_s == 0);
    series_clear(&series);
}

static void spikes_at_odd_times_have_no_period(void **state)
{
    static const int starts[] = {10, 20, 200, 210, 700};
    struct series series = {0};
    struct rhythm r;
    unsigned at = 0;

    for (int second = 0; second < SECONDS; second++) {
        add(&series, second, at < 5 && second == starts[at] ? 1000 : 1);
        at += at < 5 && second == starts[at];
    }
    assert_int_equal(rhythm_of(&series, DEMAND_BYTES, 0, &r), 0);
    assert_int_equal(r.spike_count, 5);
    assert_true(isnan(r.period_s));
    series_clear(&series);
}

static void a_slow_start_shows(void **state)
{
    struct series series = {0};
    struct rhythm r;

    for (int second = 0; second < 100; second++)
        add(&series, second, second < 30 ? 1 : 100);
    assert_int_equal(rhythm_of(&series, DEMAND_BYTES, 0, &r), 0);
    assert_true(fabs(r.ramp_s - 30) < 1e-9);
    series_clear(&series);
    assert_int_equal(rhythm_of(&series, DEMAND_BYTES, 0, &r), -ENODATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_and_their_period_are_found),
        cmocka_unit_test(spikes_have_what_lies_in_the_slots_beside_them),
        cmocka_unit_test(even_demand_has_no_spikes),
        cmocka_unit_test(spikes_at_odd_times_have_no_period),
        cmocka_unit_test(a_slow_start_shows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
