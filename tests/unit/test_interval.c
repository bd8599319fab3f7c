/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an agent's samples become the batches that leave the node. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent_private.h"
#include "lib/cleanup.h"

#define SECOND INT64_C(1000000000)
#define NOON   (INT64_C(1795000000) * SECOND)
#define YEAR   (INT64_C(365) * 86400 * SECOND)

static char path[64];

static int make_path(void **state)
{
    snprintf(path, sizeof(path), "/tmp/unblend-interval-%d", getpid());
    return 0;
}

static int remove_path(void **state)
{
    return unlink(path);
}

/* A second in which there were some reads. */
static void sample(struct agent *agent, int64_t start_ns, uint64_t reads)
{
    static const struct job job = {.name = "j", .kind = "command", .command = "c", .exit = -1};
    static const struct volume volume = {.name = "/v", .source = "s", .fstype = "xfs"};
    _cleanup_(batch_freep) struct batch *batch = NULL;
    struct record *record;
    uint32_t of_job, on_volume;

    assert_int_equal(batch_new(&batch), 0);
    batch->start_ns = start_ns;
    batch->duration_ns = SECOND;
    batch->interval_ms = 1000;
    assert_int_equal(batch_job(batch, &job, &of_job), 0);
    assert_int_equal(batch_volume(batch, &volume, &on_volume), 0);
    assert_int_equal(batch_record(batch, of_job, on_volume, NO_INDEX, OP_READ, &record), 0);
    assert_int_equal(histogram_add(&record->latency_ns, 60, reads), 0);
    assert_int_equal(agent_gather(agent, batch), 0);
}

static void expect(struct recording_reader *reader, int64_t start_ns, uint64_t duration_ns, uint64_t reads)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    struct codec_error error;

    assert_int_equal(recording_read(reader, &batch, &error), 1);
    assert_int_equal(batch->start_ns, start_ns);
    assert_int_equal(batch->duration_ns, duration_ns);
    assert_int_equal(batch->interval_ms, 10000);
    assert_int_equal(batch->record_count, 1);
    assert_int_equal(record_ops(&batch->records[0]), reads);
}

static void an_interval_lasts_as_long_as_it_did_whatever_the_clock_does(void **state)
{
    static const int64_t jumps[] = {YEAR, 3600 * SECOND, -3600 * SECOND, -YEAR};
    const struct agent_options options = {.interval_ns = 10 * SECOND};
    struct agent agent = {.options = &options};
    struct recording_reader *reader;
    int64_t now = NOON;

    assert_int_equal(recording_create(path, &agent.copy), 0);
    for (unsigned i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
        sample(&agent, now, 1);
        sample(&agent, now + SECOND + 100, 2); /* clocks are never read at once */
        now += jumps[i];
        sample(&agent, now + 2 * SECOND, 4);
        sample(&agent, now + 3 * SECOND - 200000000, 8); /* that little is slewed */
        assert_int_equal(agent_end_interval(&agent), 0);
    }
    assert_int_equal(recording_close(agent.copy), 0);
    assert_int_equal(recording_open(path, &reader), 0);
    now = NOON;
    for (unsigned i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
        expect(reader, now, 2 * SECOND + 100, 3);
        now += jumps[i];
        expect(reader, now + 2 * SECOND, 2 * SECOND - 200000000, 12);
    }
    recording_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_interval_lasts_as_long_as_it_did_whatever_the_clock_does, make_path,
                                        remove_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
