/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "analyzer/report.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB UINT64_C(1024)

/* Shards of 128 MiB are read on one volume, */
static void read_shard(struct batch *batch, const char *job, uint32_t pid)
{
    history_ops_on(batch, "from", job, pid, OP_OPEN, 131072 * KIB, 1);
    history_ops_on(batch, "from", job, pid, OP_READ, 128 * KIB, 1024);
    history_ops_on(batch, "from", job, pid, OP_CLOSE, 0, 1);
}

/* and written on another. */
static void write_shard(struct batch *batch, const char *job, uint32_t pid)
{
    history_ops_on(batch, "to", job, pid, OP_CREATE, 0, 1);
    history_ops_on(batch, "to", job, pid, OP_WRITE, 128 * KIB, 1024);
    history_ops_on(batch, "to", job, pid, OP_CLOSE, 0, 1);
}

static void report_of(struct batch **batches, unsigned count, enum grouping grouping, struct report *report)
{
    struct given given = {.source = {.next = history_next}, .count = count};

    *report = (struct report){.totals.grouping = grouping};
    assert_in_range(count, 1, GIVEN_MAX);
    memcpy(given.batches, batches, count * sizeof(*batches));
    assert_int_equal(report_build(&given.source, &classified_by, report), 0);
}

/* That share of a volume's bytes is the profile's; 0 where there is none of it. */
static double bytes_of(const struct report *report, const char *volume, const char *profile)
{
    for (uint32_t i = 0; i < report->totals.job_count; i++)
        if (strcmp(report->totals.jobs[i].name, volume) == 0) {
            classified_adds_up(&report->profiles[i]);
            return classified_bytes(&report->profiles[i], profile);
        }
    fail_msg("there is no volume %s", volume);
    return 0;
}

static void assert_copied(struct batch **batches, unsigned count, double share)
{
    struct report report;

    report_of(batches, count, GROUP_VOLUME, &report);
    assert_float_equal(bytes_of(&report, "from", "stage-copy"), share, 0.01);
    assert_float_equal(bytes_of(&report, "to", "stage-copy"), share, 0.01);
    report_clear(&report);
}

static void who_reads_one_volume_and_writes_another_copies_on_both(void **state)
{
    struct batch *batch = history_batch(0);

    read_shard(batch, "j", 10);
    write_shard(batch, "j", 10);
    assert_copied(&batch, 1, 1);
}

static void the_process_is_seen_on_both(void **state)
{
    struct batch *batch = history_batch(0);
    struct report report;

    read_shard(batch, "j", 10);
    write_shard(batch, "j", 10);
    report_of(&batch, 1, GROUP_VOLUME, &report);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(classified_says(classified_find(&report.profiles[i], "stage-copy"), "seen in 1 process by itself"));
    report_clear(&report);
}

/* A reader and a writer that start together are the ends of a pipe, if they are of one job. */
static void ends_of_a_pipe_are_of_one_job(void **state)
{
    for (unsigned one = 0; one < 2; one++) {
        struct batch *batch = history_batch(0);

        read_shard(batch, "j", 10);
        write_shard(batch, one ? "j" : "k", 11);
        assert_copied(&batch, 1, one);
    }
}

static void who_reads_samples_here_and_saves_there_does_two_things(void **state)
{
    struct batch *batch = history_batch(0);
    struct report report;

    history_small_files(batch, 10);
    history_ops_on(batch, "to", "j", 10, OP_CREATE, 0, 2);
    history_ops_on(batch, "to", "j", 10, OP_WRITE, 1024 * KIB, 400);
    history_ops_on(batch, "to", "j", 10, OP_FSYNC, 0, 2);
    history_ops_on(batch, "to", "j", 10, OP_CLOSE, 0, 2);
    report_of(&batch, 1, GROUP_VOLUME, &report);
    assert_true(bytes_of(&report, "v", "losf") > 0.9);
    assert_true(bytes_of(&report, "to", "checkpoint") > 0.9);
    report_clear(&report);
}

/* Who reads all first and writes as much when that is done does not pass on what he reads: that is told across volumes. */
static void who_copies_reads_and_writes_by_turns(void **state)
{
    for (unsigned turns = 0; turns < 2; turns++) {
        struct batch *batches[12];

        for (int second = 0; second < 12; second++) {
            batches[second] = history_batch(second);
            history_shards(batches[second], 12); /* so that the job as a whole does not copy */
            if (turns || second < 6)
                read_shard(batches[second], "j", 10);
            if (turns || second >= 6)
                write_shard(batches[second], "j", 10);
        }
        assert_copied(batches, 12, turns);
    }
}

/* Readers and writers of too little for the ends of a pipe; what their job reads elsewhere is no part of it. */
static void who_copies_together_on_one_volume_does_so_beside_others(void **state)
{
    struct batch *batch = history_batch(0);
    struct report report;

    for (uint32_t pid = 10; pid < 24; pid++) {
        bool reads = pid % 2 == 0;

        history_ops_on(batch, "to", "j", pid, reads ? OP_OPEN : OP_CREATE, 0, 3);
        history_ops_on(batch, "to", "j", pid, reads ? OP_READ : OP_WRITE, 256 * KIB, 3);
        history_ops_on(batch, "to", "j", pid, OP_CLOSE, 0, 3);
    }
    history_shards(batch, 30);
    report_of(&batch, 1, GROUP_VOLUME, &report);
    assert_float_equal(bytes_of(&report, "to", "stage-copy"), 1, 0.01);
    assert_float_equal(bytes_of(&report, "v", "shard-streaming"), 1, 0.01);
    report_clear(&report);
}

static void the_cluster_is_the_same_by_job_and_by_volume(void **state)
{
    struct report reports[2];

    for (unsigned i = 0; i < 2; i++) {
        struct batch *batch = history_batch(0);

        read_shard(batch, "j", 10);
        write_shard(batch, "j", 10);
        history_small_files(batch, 11);
        history_shards(batch, 12);
        report_of(&batch, 1, i ? GROUP_VOLUME : GROUP_JOB, &reports[i]);
    }
    assert_true(reports[0].cluster.count >= 3);
    assert_int_equal(reports[0].cluster.count, reports[1].cluster.count);
    for (uint32_t i = 0; i < reports[0].cluster.count; i++) {
        assert_string_equal(reports[0].cluster.shares[i].profile, reports[1].cluster.shares[i].profile);
        assert_float_equal(reports[0].cluster.shares[i].share_ops, reports[1].cluster.shares[i].share_ops, 1e-3);
    }
    report_clear(&reports[0]);
    report_clear(&reports[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_reads_one_volume_and_writes_another_copies_on_both),
        cmocka_unit_test(the_process_is_seen_on_both),
        cmocka_unit_test(ends_of_a_pipe_are_of_one_job),
        cmocka_unit_test(who_reads_samples_here_and_saves_there_does_two_things),
        cmocka_unit_test(who_copies_reads_and_writes_by_turns),
        cmocka_unit_test(who_copies_together_on_one_volume_does_so_beside_others),
        cmocka_unit_test(the_cluster_is_the_same_by_job_and_by_volume),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
