/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "analyzer/pipes.h"

#define SECOND 1000000000LL
#define MS     1000000LL

/* A process that began then, and ran in two intervals of a second. */
static struct unit process(uint32_t index, int64_t start_ns, uint64_t read, uint64_t written)
{
    struct unit unit = {.pid = 100 + index,
                        .volume = "data",
                        .process = index,
                        .node = "n1",
                        .start_ns = start_ns,
                        .first_ns = start_ns / SECOND * SECOND,
                        .last_ns = (start_ns / SECOND + 2) * SECOND,
                        .interval_ns = SECOND};

    unit.tally.op[OP_READ] = (struct record){.op = OP_READ, .bytes = read};
    unit.tally.op[OP_WRITE] = (struct record){.op = OP_WRITE, .bytes = written};
    return unit;
}

/* So many calls, which forget() frees. */
static void count(struct unit *unit, enum operation op, uint64_t calls)
{
    struct record *record = &unit->tally.op[op];

    record->op = op;
    record->latency_ns.cells = calloc(1, sizeof(*record->latency_ns.cells));
    assert_non_null(record->latency_ns.cells);
    record->latency_ns.cells[0] = (struct histogram_cell){.bucket = 50, .count = calls};
    record->latency_ns.length = 1;
}

static void forget(struct unit *units, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
            free(units[i].tally.op[op].latency_ns.cells);
}

static void assert_pipes(struct unit *units, uint32_t count, const uint32_t *expected)
{
    const struct job_total job = {.units = units, .unit_count = count};
    uint32_t *of;

    assert_int_equal(pipes_of(&job, &of), 0);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(of[i], expected[i]);
    free(of);
}

static void who_reads_and_who_writes_started_at_once_are_one(void **state)
{
    struct unit units[] = {process(0, 10 * SECOND, 50000000, 0), process(1, 10 * SECOND + 2 * MS, 0, 20000000)};

    assert_pipes(units, 2, (uint32_t[]){0, 0});
}

static void it_does_not_matter_who_was_seen_first(void **state)
{
    struct unit units[] = {process(0, 10 * SECOND + 2 * MS, 0, 20000000), process(1, 10 * SECOND, 50000000, 0)};

    assert_pipes(units, 2, (uint32_t[]){1, 1});
}

static void others_stay_by_themselves(void **state)
{
    struct unit units[] = {
        process(0, 10 * SECOND, 50000000, 0),        /* a reader, */
        process(1, 10 * SECOND + 200 * MS, 0, 9000000), /* a writer of later, */
        process(2, 20 * SECOND, 40000000, 40000000), /* one that does both, */
        process(3, 20 * SECOND + MS, 0, 20000000),   /* a writer beside it, */
        process(4, 30 * SECOND, 50000000, 0),        /* two readers, */
        process(5, 30 * SECOND, 50000000, 0),
        process(6, 40 * SECOND, 1000, 0),            /* and what hardly does anything */
        process(7, 40 * SECOND, 0, 20000000),
    };

    assert_pipes(units, 8, (uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7});
}

static void one_that_ran_on_is_none(void **state)
{
    struct unit units[] = {process(0, 10 * SECOND, 50000000, 0), process(1, 10 * SECOND + MS, 0, 20000000)};

    units[1].last_ns += 5 * SECOND;
    assert_pipes(units, 2, (uint32_t[]){0, 1});
    units[1].last_ns -= 5 * SECOND;
    units[1].node = "n2";
    assert_pipes(units, 2, (uint32_t[]){0, 1});
}

/* As a checkpoint is written beside a loader, in a job of both. */
static void one_that_commits_is_none(void **state)
{
    static const enum operation commits[] = {OP_FSYNC, OP_RENAME};

    for (unsigned i = 0; i < 2; i++) {
        struct unit units[] = {process(0, 10 * SECOND, 50000000, 0), process(1, 10 * SECOND + MS, 0, 50000000)};

        count(&units[1], commits[i], 1);
        assert_pipes(units, 2, (uint32_t[]){0, 1});
        forget(units, 2);
    }
}

static void each_writer_has_the_reader_closest_to_it(void **state)
{
    struct unit units[] = {process(0, 10 * SECOND, 50000000, 0),          process(1, 10 * SECOND + 10 * MS, 50000000, 0),
                           process(2, 10 * SECOND + 11 * MS, 0, 20000000), process(3, 10 * SECOND + 1 * MS, 0, 20000000)};

    assert_pipes(units, 4, (uint32_t[]){0, 1, 1, 0});
}

/* Beside `tar | tar` there is somebody who reads more, and began closer to the one who unpacks. */
static void who_reads_as_much_is_the_other_end(void **state)
{
    struct unit units[] = {process(0, 10 * SECOND, 209252365, 0), process(1, 10 * SECOND + 2 * MS, 589547974, 8),
                           process(2, 10 * SECOND + 4 * MS, 10617, 209241748), process(3, 10 * SECOND + MS / 2, 0, 30000000)};

    assert_pipes(units, 4, (uint32_t[]){0, 1, 0, 1}); /* and what is left is a pipe, as far as we know */
}

/* rsync: one reads; one looks at what is there; one writes under names that are not the last. */
static void who_renames_each_file_that_the_other_opened_copies(void **state)
{
    for (unsigned made = 1; made <= 1000; made *= 1000)
        for (unsigned opened = 1; opened <= 2; opened++) {
            struct unit units[] = {process(0, 10 * SECOND, 50000000, 0), process(1, 10 * SECOND + 10 * MS, 12000, 0),
                                   process(2, 10 * SECOND + 900 * MS, 0, 50000000),
                                   process(3, 10 * SECOND + 20 * MS, 0, 0)};
            bool one = made > 1 && opened == 1;

            count(&units[0], OP_OPEN, made * opened);
            count(&units[1], OP_STAT, made + made / 10);
            count(&units[2], OP_CREATE, made);
            count(&units[2], OP_RENAME, made);
            count(&units[3], OP_STAT, 90 * made);
            assert_pipes(units, 4, (uint32_t[]){0, one ? 0 : 1, one ? 0 : 2, 3});
            forget(units, 4);
        }
}

/* What a process does on several volumes counts together, and goes where it goes. */
static void units_of_a_process_go_together(void **state)
{
    struct unit units[] = {process(0, 10 * SECOND, 600000, 0), process(1, 10 * SECOND + MS, 0, 20000000),
                           process(0, 10 * SECOND, 600000, 0), process(1, 10 * SECOND + MS, 0, 5)};

    units[2].volume = units[3].volume = "other";
    assert_pipes(units, 4, (uint32_t[]){0, 0, 0, 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_reads_and_who_writes_started_at_once_are_one),
        cmocka_unit_test(it_does_not_matter_who_was_seen_first),
        cmocka_unit_test(others_stay_by_themselves),
        cmocka_unit_test(one_that_ran_on_is_none),
        cmocka_unit_test(one_that_commits_is_none),
        cmocka_unit_test(each_writer_has_the_reader_closest_to_it),
        cmocka_unit_test(who_reads_as_much_is_the_other_end),
        cmocka_unit_test(who_renames_each_file_that_the_other_opened_copies),
        cmocka_unit_test(units_of_a_process_go_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
