/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyzer/epoch.h"

#define SECOND INT64_C(1000000000)
#define MIB    (INT64_C(1) << 20)
#define READS  5 /* s, or none: */
#define PAUSES 3

/* Phases of reading so many MiB, and pauses in which others are read and written. */
static void phases_with(uint64_t read, uint64_t between, uint64_t written, unsigned times, struct phases *out)
{
    struct demand_slot reads = {.demand = {[DEMAND_READ_BYTES] = read * MIB / READS, [DEMAND_READ_OPS] = 100}};
    struct demand_slot pause = {.demand = {[DEMAND_READ_BYTES] = between * MIB / PAUSES,
                                           [DEMAND_WRITE_BYTES] = written * MIB / PAUSES, [DEMAND_WRITE_OPS] = 100}};
    struct series series = {0};
    int64_t at = 1000;

    for (unsigned i = 0; i < times; i++)
        for (int second = 0; second < READS + PAUSES; second++, at++)
            assert_int_equal(series_add(&series, at * SECOND, SECOND, 1000, second < READS ? &reads : &pause), 0);
    assert_int_equal(phases_of(&series, out), 0);
    series_clear(&series);
}

/* The epochs of a job that has opened ten files of so many MiB together, and read so often as much; in the units
   given. */
static struct epochs epochs_in(const struct phases *phases, uint64_t set, double passes, struct unit *units,
                               uint32_t count)
{
    struct volume_total volume = {.name = "v"};
    struct job_total job = {.volumes = &volume, .volume_count = 1, .units = units, .unit_count = count};
    struct sketch files = {0};
    struct epochs epochs;

    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(sketch_add(&files, &(struct sketch_file){.hash = i, .bytes = set * MIB / 10}), 0);
    volume.tally.op[OP_READ].bytes = (uint64_t)(passes * (double)(set * MIB));
    for (uint32_t i = 0; i < count; i++)
        units[i].volume = volume.name;
    assert_int_equal(working_add(&volume.working, 1000 * SECOND, volume.tally.op[OP_READ].bytes, 0, &files), 0);
    epochs_of(&job, phases, &epochs);
    working_clear(&volume.working);
    sketch_clear(&files);
    return epochs;
}

static void epochs_read_all(void **state)
{
    struct phases phases;
    struct epochs epochs;

    phases_with(100, 0, 200, 5, &phases);
    epochs = epochs_in(&phases, 100, 5, NULL, 0);
    assert_int_equal(epochs.count, 5);
    assert_false(epochs.of_set);
    assert_int_equal(epochs_in(&phases, 150, 3.4, NULL, 0).count, 5); /* what the program is made of is among them */
    assert_int_equal(epochs_in(&phases, 400, 1.25, NULL, 0).count, 0); /* a checkpoint for each quarter */
}

static void where_nobody_knows_what_was_opened_checkpoints_tell_nothing(void **state)
{
    const struct job_total job = {0};
    struct epochs epochs;
    struct phases phases;

    phases_with(100, 0, 200, 5, &phases);
    epochs_of(&job, &phases, &epochs);
    assert_int_equal(epochs.count, 0);
    phases_with(100, 0, 0, 5, &phases);
    epochs_of(&job, &phases, &epochs);
    assert_int_equal(epochs.count, 5);
}

static void who_reads_on_beside_writes_has_no_pauses(void **state)
{
    struct phases phases;

    phases_with(100, 60, 60, 5, &phases);
    assert_int_equal(epochs_in(&phases, 100, 8.5, NULL, 0).count, 0);
}

/* A process that has read so often as much as a set of 100 MiB has, from then to then. */
static struct unit process(double passes, int first, int last)
{
    struct unit unit = {.first_ns = first * SECOND, .last_ns = last * SECOND};

    unit.tally.op[OP_READ].bytes = (uint64_t)(passes * 100 * MIB);
    return unit;
}

static void ranks_that_each_read_all_are_no_epochs(void **state)
{
    struct unit ranks[] = {process(1, 0, 5), process(1, 0, 5), process(1, 1, 6), process(1, 1, 6)};
    struct unit program_too[] = {process(0.7, 0, 5), process(0.7, 0, 5), process(0.7, 1, 6)};
    struct unit workers[] = {process(0.5, 0, 5), process(0.5, 0, 5), process(0.5, 5, 9), process(0.5, 5, 9)};
    struct unit later[] = {process(1, 0, 5), process(1, 6, 9), process(1, 9, 12)};
    struct unit alone[] = {process(3, 0, 9)};
    struct phases phases;

    phases_with(500, 500, 0, 1, &phases);
    assert_int_equal(epochs_in(&phases, 100, 4, ranks, 4).count, 0);
    assert_int_equal(epochs_in(&phases, 100, 2.1, program_too, 3).count, 0);
    assert_int_equal(epochs_in(&phases, 100, 2, workers, 4).count, 2);
    assert_int_equal(epochs_in(&phases, 100, 3, later, 3).count, 3);
    assert_int_equal(epochs_in(&phases, 100, 3, alone, 1).count, 3);
    assert_int_equal(epochs_in(&phases, 100, 2.85, alone, 1).count, 0); /* no whole number */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_read_all),
        cmocka_unit_test(where_nobody_knows_what_was_opened_checkpoints_tell_nothing),
        cmocka_unit_test(who_reads_on_beside_writes_has_no_pauses),
        cmocka_unit_test(ranks_that_each_read_all_are_no_epochs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
