/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "analyzer/epoch.h"

/* So many seconds of the same, of a series that goes on. */
static void go_on(struct series *series, int *second, int seconds, uint64_t read, uint64_t written, uint64_t metadata)
{
    struct demand_slot slot = {.demand = {[DEMAND_READ_BYTES] = read,
                                          [DEMAND_WRITE_BYTES] = written,
                                          [DEMAND_READ_OPS] = read / 100,
                                          [DEMAND_WRITE_OPS] = written / 100,
                                          [DEMAND_METADATA_OPS] = metadata}};

    for (int i = 0; i < seconds; i++, (*second)++)
        assert_int_equal(series_add(series, *second * 1000000000LL, 1000000000, 1000, &slot), 0);
}

static void expect(const struct phases *phases, unsigned i, enum phase_kind kind, int start_s, int length_s)
{
    assert_true(i < phases->count);
    assert_string_equal(phase_names[phases->list[i].kind], phase_names[kind]);
    assert_int_equal(phases->list[i].start_ms, start_s * 1000);
    assert_true(fabs(phases->list[i].length_s - length_s) < 1e-9);
}

/* Of a job that has told of no files. */
static struct epochs epochs_in(const struct phases *phases)
{
    struct epochs epochs;

    epochs_of(&(struct job_total){0}, phases, &epochs);
    return epochs;
}

/* Files are brought in, looked through, and read three times and a bit, with a pause and a checkpoint between. */
static void a_training_is_taken_apart(void **state)
{
    struct series series = {0};
    struct phases phases;
    struct epochs epochs;
    int second = 0;

    go_on(&series, &second, 60, 0, 50000, 10);
    go_on(&series, &second, 30, 0, 0, 4000);
    for (int i = 0; i < 3; i++) {
        go_on(&series, &second, 45, 80000, 100, 20);
        go_on(&series, &second, 15, 0, i == 1 ? 90000 : 0, 0);
    }
    go_on(&series, &second, 15, 80000, 0, 20);
    assert_int_equal(phases_of(&series, &phases), 0);
    assert_int_equal(phases.count, 9);
    expect(&phases, 0, PHASE_WRITE, 0, 60);
    expect(&phases, 1, PHASE_METADATA, 60, 30);
    expect(&phases, 2, PHASE_READ, 90, 45);
    expect(&phases, 3, PHASE_QUIET, 135, 15);
    expect(&phases, 5, PHASE_WRITE, 195, 15);
    expect(&phases, 8, PHASE_READ, 270, 15);
    assert_int_equal(phases.list[0].sum.demand[DEMAND_WRITE_BYTES], 3000000);
    assert_int_equal(phases.list[1].sum.demand[DEMAND_METADATA_OPS], 120000);
    epochs = epochs_in(&phases);
    assert_int_equal(epochs.count, 4);
    assert_false(epochs.of_set);
    assert_true(epochs.length_s == 60 && epochs.bytes == 3600000);
    series_clear(&series);
}

static void what_reads_on_and_on_has_one_phase_and_no_epochs(void **state)
{
    struct series series = {0};
    struct phases phases;
    int second = 0;

    go_on(&series, &second, 1000, 5000, 0, 100);
    assert_int_equal(phases_of(&series, &phases), 0);
    assert_int_equal(phases.count, 1);
    expect(&phases, 0, PHASE_READ, 0, 1000);
    assert_int_equal(epochs_in(&phases).count, 0);
    series_clear(&series);
}

static void reads_that_differ_are_no_epochs(void **state)
{
    struct series series = {0};
    struct phases phases;
    int second = 0;

    for (int i = 0; i < 4; i++) {
        go_on(&series, &second, 30 + 60 * (i % 2), 5000, 0, 1);
        go_on(&series, &second, 30, 0, 0, 0);
    }
    assert_int_equal(phases_of(&series, &phases), 0);
    assert_int_equal(phases.count, 8);
    assert_int_equal(epochs_in(&phases).count, 0);
    series_clear(&series);
}

/* A month of minutes has a hundred windows, too, and loses nothing. */
static void long_ones_are_cut_into_a_hundred(void **state)
{
    struct series series = {0};
    struct phases phases;
    int second = 0;
    uint64_t read = 0, written = 0;

    for (int i = 0; i < 430; i++)
        go_on(&series, &second, 100, i % 86 < 43 ? 1000 : 0, i % 86 < 43 ? 0 : 2000, 0);
    assert_int_equal(phases_of(&series, &phases), 0);
    assert_true(phases.count >= 10 && phases.count <= PHASES_MAX);
    for (unsigned i = 0; i < phases.count; i++) {
        read += phases.list[i].sum.demand[DEMAND_READ_BYTES];
        written += phases.list[i].sum.demand[DEMAND_WRITE_BYTES];
    }
    assert_int_equal(read, 215 * 100 * 1000);
    assert_int_equal(written, 215 * 100 * 2000);
    series_clear(&series);
}

static void nothing_has_none(void **state)
{
    struct series series = {0};
    struct phases phases;
    int second = 0;

    assert_int_equal(phases_of(&series, &phases), -ENODATA);
    assert_int_equal(phases.count, 0);
    go_on(&series, &second, 7, 0, 0, 0);
    assert_int_equal(phases_of(&series, &phases), 0);
    assert_int_equal(phases.count, 1);
    expect(&phases, 0, PHASE_QUIET, 0, 7);
    series_clear(&series);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_training_is_taken_apart),
        cmocka_unit_test(what_reads_on_and_on_has_one_phase_and_no_epochs),
        cmocka_unit_test(reads_that_differ_are_no_epochs),
        cmocka_unit_test(long_ones_are_cut_into_a_hundred),
        cmocka_unit_test(nothing_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
