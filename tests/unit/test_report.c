/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report.h"
#include "analyzer/view/json.h"
#include "analyzer/view/view.h"
#include "lib/joint.h"
#include "lib/moment.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

static json_t *report_of(struct batch **batches, unsigned count, enum grouping grouping)
{
    struct given given = {.source = {.next = history_next}, .count = count};
    struct report report = {.totals.grouping = grouping};
    json_t *json;

    assert_in_range(count, 0, GIVEN_MAX);
    memcpy(given.batches, batches, count * sizeof(*batches));
    assert_int_equal(report_build(&given.source, &classified_by, &report), 0);
    json = json_report(&report);
    assert_non_null(json);
    report_clear(&report);
    return json;
}

static const json_t *at(const json_t *json, const char *path)
{
    char buffer[128], *save = NULL;

    snprintf(buffer, sizeof(buffer), "%s", path);
    for (char *key = strtok_r(buffer, "/", &save); key; key = strtok_r(NULL, "/", &save)) {
        json = json_is_array(json) ? json_array_get(json, (size_t)atoi(key))
                                   : json_object_get(json, key);
        if (!json)
            fail_msg("%s: there is no %s", path, key);
    }
    return json;
}

static void every_key_is_there(void **state)
{
    static const char *const keys[] = {
        "schema",
        "span/start",
        "span/end",
        "span/interval_ms",
        "nodes/0/cluster",
        "nodes/0/node",
        "nodes/0/role",
        "nodes/0/kernel",
        "jobs/0/job",
        "jobs/0/kind",
        "jobs/0/node",
        "jobs/0/nodes/0",
        "jobs/0/attempts/0/node",
        "jobs/0/attempts/0/start",
        "jobs/0/attempts/0/end",
        "jobs/0/attempts/0/exit",
        "jobs/0/user",
        "jobs/0/labels",
        "jobs/0/command",
        "jobs/0/ops/read/ops",
        "jobs/0/ops/read/bytes",
        "jobs/0/ops/read/errors",
        "jobs/0/ops/read/size/zero",
        "jobs/0/ops/read/size/p1",
        "jobs/0/ops/read/size/p50",
        "jobs/0/ops/read/size/p95",
        "jobs/0/ops/read/size/p99",
        "jobs/0/ops/read/size/max",
        "jobs/0/ops/read/size/histogram",
        "jobs/0/ops/read/latency_ns/p50",
        "jobs/0/ops/read/latency_ns/p95",
        "jobs/0/ops/read/latency_ns/p99",
        "jobs/0/ops/read/latency_ns/max",
        "jobs/0/ops/read/latency_ns/histogram",
        "jobs/0/ratios/read_ops",
        "jobs/0/ratios/read_bytes",
        "jobs/0/ratios/metadata_ops",
        "jobs/0/ratios/metadata_ops_no_close",
        "jobs/0/ratios/metadata_ops_with_seek",
        "jobs/0/ratios/open_ops",
        "jobs/0/ratios/opens_per_read",
        "jobs/0/ratios/opens_per_mib",
        "jobs/0/ratios/sequential",
        "jobs/0/ratios/consecutive",
        "jobs/0/ratios/random",
        "jobs/0/file_size",
        "jobs/0/burst/window_ms/2",
        "jobs/0/burst/peak_to_mean/2",
        "jobs/0/burst/cv/2",
        "jobs/0/burst/fano/2",
        "jobs/0/burst/idle/2",
        "jobs/0/burst/period_s",
        "jobs/0/burst/by/read_bytes/cv",
        "jobs/0/burst/by/write_bytes/cv",
        "jobs/0/burst/by/data_ops/cv",
        "jobs/0/burst/by/metadata_ops/cv",
        "jobs/0/burst/in_burst_latency_ns",
        "jobs/0/burst/steady_latency_ns",
        "jobs/0/volumes/0/volume",
        "jobs/0/volumes/0/source",
        "jobs/0/volumes/0/fstype",
        "jobs/0/volumes/0/scope",
        "jobs/0/volumes/0/mounts",
        "jobs/0/volumes/0/ops",
        "jobs/0/volumes/0/burst",
        "jobs/0/volumes/0/in_flight",
        "jobs/0/volumes/0/trees",
        "jobs/0/volumes/0/working_set",
        "jobs/0/profiles/0/kind",
        "jobs/0/profiles/0/profile",
        "jobs/0/profiles/0/share_ops",
        "jobs/0/profiles/0/share_bytes",
        "jobs/0/profiles/0/confidence",
        "jobs/0/profiles/0/evidence",
        "cluster/profiles",
        "cluster/effective_profiles",
        "cluster/blend_index",
        "cluster/ops",
        "cluster/ratios",
        "cluster/burst/cv",
        "cluster/capacity/volumes/0/volume",
        "cluster/capacity/volumes/0/layer",
        "cluster/capacity/volumes/0/demand/0/metric",
        "cluster/capacity/volumes/0/demand/0/window_ms",
        "cluster/capacity/volumes/0/demand/0/longest_above_p95_s",
        "cluster/capacity/volumes/0/limit",
        "cluster/capacity/volumes/0/limit_source",
        "cluster/capacity/volumes/0/utilization",
        "cluster/capacity/volumes/0/used_bytes",
        "cluster/capacity/volumes/0/total_bytes",
        "cluster/capacity/volumes/0/used_files",
        "cluster/capacity/volumes/0/total_files",
        "cluster/capacity/volumes/0/growth_bytes_day",
        "cluster/capacity/volumes/0/full_at",
        "cluster/capacity/required",
        "cluster/capacity/scenarios",
        "cluster/capacity/cost/platform",
        "cluster/capacity/cost/currency",
        "cluster/capacity/cost/price_source",
        "cluster/capacity/cost/price",
        "cluster/capacity/cost/price_per_tb",
        "cluster/capacity/cost/price_per_tb_year",
        "cluster/capacity/cost/price_per_hour",
        "cluster/capacity/cost/price_per_job",
        "cluster/capacity/cost/converged_cores",
        "cluster/capacity/cost/gpu_hours_lost",
        "cluster/capacity/cost/tiers",
        "cluster/capacity/cost/why",
        "findings",
        "coverage/lost_ops",
        "coverage/in_flight_ops",
        "coverage/unattributed_ops",
        "coverage/overflow_ops",
        "coverage/hooks/0/hook",
        "coverage/hooks/0/state",
        "coverage/hooks/0/why",
        "coverage/bypass",
    };
    struct batch *batch = history_batch(0);
    json_t *json;

    history_ops(batch, "j", 0, OP_READ, 4096, 5);
    json = report_of(&batch, 1, GROUP_JOB);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        at(json, keys[i]);
    json_decref(json);
}

static json_int_t integer(const json_t *json, const char *path)
{
    assert_true(json_is_integer(at(json, path)));
    return json_integer_value(at(json, path));
}

static void figures_by_hand(void **state)
{
    struct batch *batches[] = {history_batch(0), history_batch(3)};
    json_t *json;

    history_ops(batches[0], "j", 0, OP_READ, 4096, 98);
    history_ops(batches[0], "j", 0, OP_READ, 0, 10);
    history_errors(batches[0], "j", 0, OP_READ, 0, 1);
    history_ops(batches[1], "j", 0, OP_READ, 98304, 2);
    batches[0]->coverage.lost = 3;
    batches[1]->coverage.lost = 4;
    batches[0]->coverage.in_flight = 9;
    batches[1]->coverage.in_flight = 2;
    batches[0]->coverage.killed = 5;
    batches[1]->coverage.killed = 6;
    json = report_of(batches, 2, GROUP_JOB);
    assert_string_equal(json_string_value(at(json, "span/start")), "2026-01-01T00:00:00.000Z");
    assert_string_equal(json_string_value(at(json, "span/end")), "2026-01-01T00:00:04.000Z");
    assert_int_equal(integer(json, "jobs/0/ops/read/ops"), 111);
    assert_int_equal(integer(json, "jobs/0/ops/read/errors"), 1);
    assert_int_equal(integer(json, "jobs/0/ops/read/bytes"), 98 * 4096 + 2 * 98304);
    assert_int_equal(integer(json, "jobs/0/ops/read/size/zero"), 10);
    assert_int_equal(integer(json, "jobs/0/ops/read/size/p50"), 4096);
    assert_int_equal(integer(json, "jobs/0/ops/read/size/p95"), 4096);
    assert_int_equal(integer(json, "jobs/0/ops/read/size/p99"), 98304);
    assert_int_equal(integer(json, "jobs/0/ops/read/size/max"), 106495);
    assert_int_equal(integer(json, "jobs/0/ops/read/size/histogram/1/0"), 4096);
    assert_int_equal(integer(json, "jobs/0/ops/read/size/histogram/1/1"), 4608);
    assert_int_equal(integer(json, "jobs/0/ops/read/size/histogram/1/2"), 98);
    assert_int_equal(integer(json, "coverage/lost_ops"), 7);
    assert_int_equal(integer(json, "coverage/killed_ops"), 11);
    assert_int_equal(integer(json, "coverage/in_flight_ops"), 11 + 2);
    assert_true(json_is_null(at(json, "jobs/0/ratios/metadata_ops")) == 0);
    assert_true(json_is_null(at(json, "jobs/0/ratios/random")));
    assert_true(json_is_null(at(json, "jobs/0/burst/cv/0")));
    assert_true(json_real_value(at(json, "jobs/0/burst/idle/1")) == 0.5);
    json_decref(json);
}

/* The same records, cut into batches in another way, are the same report. */
static void grouping_of_batches_does_not_matter(void **state)
{
    struct batch *whole[] = {history_batch(0), history_batch(1)};
    struct batch *parts[] = {history_batch(0), history_batch(0), history_batch(1)};
    json_t *a, *b;

    history_ops(whole[0], "j", 0, OP_READ, 4096, 300);
    history_ops(whole[0], "k", 0, OP_WRITE, 65536, 200);
    history_ops(whole[1], "j", 0, OP_READ, 4096, 5);
    history_ops(parts[0], "k", 0, OP_WRITE, 65536, 200);
    history_ops(parts[1], "j", 0, OP_READ, 4096, 300);
    history_ops(parts[2], "j", 0, OP_READ, 4096, 5);
    a = report_of(whole, 2, GROUP_JOB);
    b = report_of(parts, 3, GROUP_JOB);
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static struct batch *of_stream(int second, const char *stream)
{
    struct batch *batch = history_batch(second);

    history_ops(batch, "j", 0, OP_READ, 4096, 10);
    assert_int_equal(batch_set(batch, &batch->stream, stream), 0);
    return batch;
}

static bool has_gap(const json_t *json, const char *name)
{
    size_t i;
    json_t *hook;

    json_array_foreach(at(json, "coverage/hooks"), i, hook)
        if (strcmp(json_string_value(json_object_get(hook, "hook")), name) == 0)
            return true;
    return false;
}

static void time_between_recordings_is_told(void **state)
{
    struct batch *apart[] = {of_stream(0, "a"), of_stream(1, "a"), of_stream(9, "b")};
    struct batch *unnamed[] = {of_stream(0, ""), of_stream(9, "")};
    json_t *json = report_of(apart, 3, GROUP_JOB);

    assert_int_equal(integer(json, "coverage/unwatched_ms"), 7000);
    assert_int_equal(integer(json, "coverage/twice_ms"), 0);
    assert_true(has_gap(json, "unwatched") && !has_gap(json, "twice"));
    json_decref(json);
    /* a database has no streams, and no intervals in which nothing was done */
    json = report_of(unnamed, 2, GROUP_JOB);
    assert_int_equal(integer(json, "coverage/unwatched_ms"), 0);
    assert_false(has_gap(json, "unwatched"));
    json_decref(json);
}

/* Of a recording with intervals of ten seconds, the last of which ends after six. */
static void add_recording(struct batch **batches, int second, const char *stream)
{
    for (unsigned i = 0; i < 2; i++) {
        batches[i] = history_batch(second + 10 * (int)i);
        batches[i]->interval_ms = 10000;
        batches[i]->duration_ns = i ? UINT64_C(6000000000) : UINT64_C(10000000000);
        history_ops(batches[i], "j", 0, OP_READ, 4096, 1000);
        assert_int_equal(batch_set(batches[i], &batches[i]->stream, stream), 0);
    }
}

/* Neither the rest of an interval nor the time between recordings was watched. */
static void rates_are_of_the_time_that_was_watched(void **state)
{
    const double mean = 2 * 4096000 / 16.0;
    struct batch *batches[4];
    json_t *json;

    (void)state;
    for (unsigned recordings = 1; recordings <= 2; recordings++) {
        for (unsigned i = 0; i < recordings; i++)
            add_recording(batches + (size_t)2 * i, 40 * (int)i, i ? "b" : "a");
        json = report_of(batches, 2 * recordings, GROUP_JOB);
        assert_true(fabs(json_number_value(at(json, "jobs/0/rhythm/data/mean_bytes_s")) - mean) < 1);
        assert_true(json_number_value(at(json, "jobs/0/rhythm/data/peak_bytes_s")) >= mean - 1);
        json_decref(json);
    }
}

static void recordings_that_overlap_are_told(void **state)
{
    struct batch *both[] = {of_stream(0, "a"), of_stream(1, "a"), of_stream(1, "b"), of_stream(2, "b")};
    struct batch *nodes[] = {of_stream(0, "a"), of_stream(0, "b")};
    json_t *json = report_of(both, 4, GROUP_JOB);

    assert_int_equal(integer(json, "coverage/twice_ms"), 1000);
    assert_int_equal(integer(json, "coverage/unwatched_ms"), 0);
    assert_true(has_gap(json, "twice") && !has_gap(json, "unwatched"));
    json_decref(json);
    assert_int_equal(batch_set(nodes[1], &nodes[1]->node, "n2"), 0);
    json = report_of(nodes, 2, GROUP_JOB);
    assert_int_equal(integer(json, "coverage/twice_ms"), 0);
    json_decref(json);
}

static void jobs_can_be_added_up(void **state)
{
    struct batch *batch = history_batch(0);
    json_t *json;

    history_ops(batch, "j", 0, OP_READ, 4096, 3);
    history_ops(batch, "k", 0, OP_READ, 4096, 4);
    json = report_of(&batch, 1, GROUP_NODE);
    assert_int_equal(json_array_size(json_object_get(json, "jobs")), 1);
    assert_string_equal(json_string_value(at(json, "jobs/0/job")), "n1");
    assert_int_equal(integer(json, "jobs/0/ops/read/ops"), 7);
    json_decref(json);
}

/* What devices did for jobs that were not asked for is one thing, with one key. */
static void filters_leave_no_station_twice(void **state)
{
    const struct source_window window = {HISTORY_START, HISTORY_START + 1, NULL, "k"};
    struct batch *batch = history_batch(0);

    history_ops(batch, "i", 4, OP_READ, 4096, 1);
    history_ops(batch, "j", 5, OP_READ, 4096, 1);
    history_ops(batch, "k", 6, OP_READ, 4096, 1);
    for (uint32_t job = 0; job < 3; job++) {
        const struct station key = {.layer = LAYER_BLOCK, .request = REQUEST_READ, .party = PARTY_JOB, .job = job};
        struct station *station;

        assert_int_equal(batch_station(batch, &key, &station), 0);
        station->ops = 1 + job;
        station->in_flight = 10 + job;
    }
    assert_int_equal(source_filter(&window, batch), 1);
    assert_int_equal(batch->station_count, 2);
    assert_int_equal(batch->stations[0].party, PARTY_UNKNOWN);
    assert_int_equal(batch->stations[0].ops, 3);
    assert_int_equal(batch->stations[0].in_flight, 21);
    assert_int_equal(batch->stations[1].job, 0);
    assert_int_equal(batch->stations[1].ops, 3);
    batch_free(batch);
}

static void filters(void **state)
{
    const struct source_window window = {HISTORY_START, HISTORY_START + 1, "n?", "k*"};
    struct batch *batch = history_batch(0), *late = history_batch(1);

    history_ops(batch, "j", 4, OP_READ, 4096, 3);
    history_ops(batch, "kk", 5, OP_READ, 4096, 4);
    assert_int_equal(source_filter(&window, batch), 1);
    assert_int_equal(source_filter(&window, late), 0);
    assert_int_equal(batch->job_count, 1);
    assert_int_equal(batch->process_count, 1);
    assert_int_equal(batch->record_count, 1);
    assert_int_equal(batch->processes[batch->records[0].process].pid, 5);
    assert_int_equal(record_ops(&batch->records[0]), 4);
    batch_free(batch);
    batch_free(late);
}

/* Whether the evidence of what 1,578 opens and a read do says that. */
static bool opens_say(uint64_t read, const char *words)
{
    struct batch *batches[] = {history_batch(0)};
    const json_t *evidence, *line;
    bool found = false;
    json_t *json;
    size_t i;

    history_ops(batches[0], "j", 7, OP_OPEN, 0, 1578);
    history_ops(batches[0], "j", 7, OP_READ, read, 1);
    json = report_of(batches, 1, GROUP_JOB);
    evidence = at(json, "jobs/0/profiles/0/evidence");
    json_array_foreach ((json_t *)evidence, i, line)
        found = found || strstr(json_string_value(line), words);
    json_decref(json);
    return found;
}

/* No exponent, in the evidence as little as elsewhere. */
static void numbers_are_written_out(void **state)
{
    assert_true(opens_say(1 << 20, "1,578 opens per MiB"));
}

static void hardly_a_byte_makes_no_rate(void **state)
{
    assert_false(opens_say(1 << 10, "per MiB"));
    assert_false(opens_say(0, "per MiB"));
}

static void moments(void **state)
{
    int64_t ns;

    assert_int_equal(moment_parse("2026-01-01T00:00:00Z", 0, &ns), 0);
    assert_int_equal(ns, HISTORY_START);
    assert_int_equal(moment_parse("2026-01-01T01:30:00.25+01:30", 0, &ns), 0);
    assert_int_equal(ns, HISTORY_START + 250000000);
    assert_int_equal(moment_parse("2m", HISTORY_START, &ns), 0);
    assert_int_equal(ns, HISTORY_START - INT64_C(120000000000));
    assert_int_equal(moment_parse("2026-01-01T00:10Z", 0, &ns), 0);
    assert_int_equal(moment_parse("2026-01-01 01:00+01:00", 0, &ns), 0);
    assert_int_equal(ns, HISTORY_START);
    assert_true(moment_parse("2026-01-01T00:00:99Z", 0, &ns) < 0);
    assert_true(moment_parse("2026-01-01T00Z", 0, &ns) < 0);
    assert_true(moment_parse("2026-01-01T00:00:00+1", 0, &ns) < 0);
    assert_true(moment_parse("2026-01-01T00:00:00+-5:00", 0, &ns) < 0);
    assert_true(moment_parse("2026-01-01T00:00:00+ 5:00", 0, &ns) < 0);
    assert_true(moment_parse("2026-01-01T00:00:00+05:-9", 0, &ns) < 0);
    assert_true(moment_parse("yesterday", 0, &ns) < 0);
    assert_true(moment_parse("2026-02-30T00:00:00Z", 0, &ns) < 0);
    assert_true(moment_parse("2026-02-29", 0, &ns) < 0);
    assert_int_equal(moment_parse("2028-02-29", 0, &ns), 0);
    assert_true(moment_parse("2026-01-01T00:00:61Z", 0, &ns) < 0);
    assert_true(moment_parse("2026-01-01T00:00:00+25:00", 0, &ns) < 0);
    assert_true(moment_parse("2026-01-01T00:00:00+02:60", 0, &ns) < 0);
    assert_true(moment_parse("4052-03-01T12:05:00Z", 0, &ns) < 0);
}

static struct record *only_record(struct batch *batch, enum operation op)
{
    const struct job job = {.name = "j", .kind = "slurm", .command = "x", .exit = -1};
    const struct volume volume = {.name = "v", .source = "/dev/v", .fstype = "ext4"};
    struct record *record;
    uint32_t at, on;

    assert_int_equal(batch_job(batch, &job, &at), 0);
    assert_int_equal(batch_volume(batch, &volume, &on), 0);
    assert_int_equal(batch_record(batch, at, on, NO_INDEX, op, &record), 0);
    return record;
}

/* Reads from the cache, errors by name, page faults by kind; a hook that was missed makes null of what it sees. */
static struct batch *detailed(bool minor)
{
    const struct hook hooks[] = {{"mmap_fault", true, NULL},
                                 {"tp_btf/mm_filemap_map_pages", minor, minor ? NULL : "too old"}};
    struct batch *batch = history_batch(0);
    struct record *read = only_record(batch, OP_READ), *fault;

    assert_int_equal(histogram_add(&read->latency_ns, 100, 20), 0);
    assert_int_equal(histogram_add_bucket(&read->error_codes, 5, 3), 0);
    read->errors = 4;
    memcpy(read->cache, (uint64_t[]){10, 1000, 2, 300}, sizeof(read->cache));
    fault = only_record(batch, OP_MMAP_FAULT);
    assert_int_equal(histogram_add(&fault->latency_ns, 100, 7), 0);
    memcpy(fault->faults, (uint64_t[]){4, 2, 90}, sizeof(fault->faults));
    assert_int_equal(batch_hooks(batch, hooks, 2), 0);
    return batch;
}

static void assert_json(const json_t *report, const char *path, const char *expected)
{
    char *text = json_dumps(at(report, path), JSON_COMPACT | JSON_ENCODE_ANY);

    assert_string_equal(text, expected);
    free(text);
}

static void details_are_told(void **state)
{
    struct batch *batches[] = {detailed(true)}, *lesser[] = {detailed(false)};
    json_t *json = report_of(batches, 1, GROUP_JOB);

    assert_json(json, "jobs/0/ops/read/cached", "{\"ops\":10,\"bytes\":1000,\"known_ops\":12,\"known_bytes\":1300}");
    assert_json(json, "jobs/0/ops/read/error_codes", "{\"EIO\":3,\"?\":1}");
    assert_json(json, "jobs/0/volumes/0/faults", "{\"major\":7,\"read\":4,\"write\":2,\"minor\":90}");
    json_decref(json);
    json = report_of(lesser, 1, GROUP_JOB);
    assert_json(json, "jobs/0/faults", "{\"major\":7,\"read\":4,\"write\":2,\"minor\":null}");
    json_decref(json);
}

/* Of the job "j" of that node, which has the hook or lacks it. */
static struct batch *hooked(const char *node, const char *name, bool attached)
{
    const struct hook hook = {.name = "mmap_fault", .attached = attached, .why = attached ? NULL : "too old"};
    struct batch *batch = history_batch(0);

    assert_int_equal(batch_set(batch, &batch->node, node), 0);
    history_ops(batch, name, NO_INDEX, OP_READ, 1 << 20, 1000);
    history_order(batch, name, NO_INDEX, OP_READ, ORDER_CONSECUTIVE, 1000);
    assert_int_equal(batch_hooks(batch, &hook, 1), 0);
    return batch;
}

static double confidence_of(const json_t *json, const char *name)
{
    const json_t *job;
    size_t i;

    json_array_foreach(at(json, "jobs"), i, job)
        if (strcmp(json_string_value(json_object_get(job, "job")), name) == 0)
            return json_real_value(at(job, "profiles/0/confidence"));
    fail();
    return 0;
}

static void a_hook_that_a_node_lacks_touches_what_ran_there(void **state)
{
    struct batch *all[] = {hooked("n1", "a", true), hooked("n2", "b", true)};
    struct batch *some[] = {hooked("n1", "a", true), hooked("n2", "b", false)};
    json_t *seen = report_of(all, 2, GROUP_JOB), *json = report_of(some, 2, GROUP_JOB);

    assert_true(confidence_of(json, "a") == confidence_of(seen, "a"));
    assert_true(confidence_of(json, "b") < confidence_of(seen, "b"));
    assert_json(json, "coverage/hooks/0",
                "{\"hook\":\"mmap_fault\",\"state\":\"unavailable\",\"why\":\"too old (n2: 1 of 2 nodes)\"}");
    json_decref(json);
    json_decref(seen);
}

/* A batch's report; malloc'ed. Frees the batch. */
static char *text_of(struct batch *batch, const struct view *view)
{
    struct given given = {.source = {.next = history_next}, .batches = {batch}, .count = 1};
    struct report report = {.totals.grouping = GROUP_JOB};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(report_build(&given.source, &classified_by, &report), 0);
    assert_int_equal(view->write(&report, out), 0);
    (void)fclose(out);
    report_clear(&report);
    return text;
}

/* What cannot be seen is not among the lost, of which there may be none. */
static void calls_that_nobody_sees_are_not_covered(void **state)
{
    const struct hook unseen = {.name = "32-bit calls", .why = "only tp_btf and kprobe see calls of 32-bit programs"};
    struct batch *batch = hooked("n1", "a", true);
    char *text = text_of(hooked("n1", "a", true), &view_text);

    (void)state;
    assert_non_null(strstr(text, "Coverage  complete: 0 lost"));
    free(text);
    assert_int_equal(batch_hooks(batch, &unseen, 1), 0);
    text = text_of(batch, &view_text);
    assert_non_null(strstr(text, "Coverage  complete but for 32-bit calls: 0 lost, 0 under a coarser key,\n"));
    free(text);
}

/* Stats have no row among sizes, beneath which theirs could stand. */
static void what_stats_describe_jumps_nowhere(void **state)
{
    struct batch *batch = history_batch(0);
    char *text;

    history_ops(batch, "j", 1, OP_STAT, 0, 20);
    assert_int_equal(joint_add(&batch->records[0].joint, JOINT_ALL, 1 + FILE_SMALL, 0, 20), 0);
    assert_int_equal(joint_add(&batch->records[0].joint, JOINT_JUMPED, 1 + FILE_SMALL, 0, 20), 0);
    history_order(batch, "j", 1, OP_STAT, ORDER_BY_NAME, 20);
    history_ops(batch, "j", 1, OP_OPEN, 4096, 20);
    text = text_of(batch, &view_text);
    assert_non_null(strstr(text, "Sizes, one step a doubling"));
    assert_null(strstr(text, "jumping"));
    free(text);
}

/* What is written through a mapping is no write, and comes to the device all the same. */
static void bytes_that_no_call_wrote_are_not_said_to_be_read(void **state)
{
    struct batch *batch = history_batch(0), *calls = history_batch(0);
    char *text;

    (void)state;
    history_ops(batch, "a", 1, OP_READ, 1 << 20, 10);
    history_ops(batch, "a", 1, OP_MMAP_FAULT, 1 << 20, 4);
    history_ops_on(batch, "n1:vda", "a", 1, OP_BLOCK_WRITE, 1 << 20, 240);
    text = text_of(batch, &view_text);
    assert_null(strstr(text, "100 % of the bytes are read"));
    assert_non_null(strstr(text, "devices wrote 240 MiB, as mappings are written back: of the bytes that calls"));
    free(text);
    history_ops(calls, "a", 1, OP_READ, 1 << 20, 10);
    history_ops(calls, "a", 1, OP_WRITE, 1 << 20, 10);
    history_ops_on(calls, "n1:vda", "a", 1, OP_BLOCK_WRITE, 1 << 20, 15);
    text = text_of(calls, &view_text);
    assert_non_null(strstr(text, "50 % of the bytes are read; 50 % of reads and writes are reads"));
    free(text);
}

/* A process that reads small files, and shards, or two that do one of these each. */
static char *text_of_two_things(uint32_t small, uint32_t shards)
{
    struct batch *batch = history_batch(0);

    history_small_files(batch, small);
    history_shards(batch, shards);
    for (uint32_t i = 0; i < batch->record_count; i++)
        batch->records[i].latency_sum_ns = batch->records[i].op == OP_READ ? 500000000 : 0;
    return text_of(batch, &view_text);
}

static void what_a_process_does_in_turn_is_no_blend_for_sure(void **state)
{
    char *text = text_of_two_things(1, 1);

    (void)state;
    assert_non_null(strstr(text, "A volume sees up to "));
    assert_non_null(strstr(text, "What a process or a sum did one after the other is taken to be at once."));
    assert_non_null(strstr(text, "most of the time is of processes, or of sums"));
    free(text);
    text = text_of_two_things(1, 2);
    assert_non_null(strstr(text, "A volume sees 2.0 "));
    free(text);
}

static void what_faults_read_came_from_below_the_page_cache(void **state)
{
    struct batch *batch = history_batch(0);
    char *text;

    history_ops(batch, "j", 1, OP_READ, 4096, 20);
    batch->records[0].cache[CACHE_HIT_OPS] = 10;
    batch->records[0].cache[CACHE_HIT_BYTES] = 10 * 4096;
    history_ops(batch, "j", 1, OP_MMAP_FAULT, 65536, 5);
    text = text_of(batch, &view_html);
    assert_non_null(strstr(text, "</svg>the page cache 10 %<"));
    assert_non_null(strstr(text, "</svg>below it 0 %<"));
    assert_non_null(strstr(text, "</svg>below it, for page faults on mapped files 80 %<"));
    assert_non_null(strstr(text, "</svg>not known 10 %<"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_there),
        cmocka_unit_test(details_are_told),
        cmocka_unit_test(a_hook_that_a_node_lacks_touches_what_ran_there),
        cmocka_unit_test(figures_by_hand),
        cmocka_unit_test(rates_are_of_the_time_that_was_watched),
        cmocka_unit_test(grouping_of_batches_does_not_matter),
        cmocka_unit_test(time_between_recordings_is_told),
        cmocka_unit_test(recordings_that_overlap_are_told),
        cmocka_unit_test(jobs_can_be_added_up),
        cmocka_unit_test(filters),
        cmocka_unit_test(filters_leave_no_station_twice),
        cmocka_unit_test(numbers_are_written_out),
        cmocka_unit_test(hardly_a_byte_makes_no_rate),
        cmocka_unit_test(moments),
        cmocka_unit_test(calls_that_nobody_sees_are_not_covered),
        cmocka_unit_test(what_stats_describe_jumps_nowhere),
        cmocka_unit_test(bytes_that_no_call_wrote_are_not_said_to_be_read),
        cmocka_unit_test(what_a_process_does_in_turn_is_no_blend_for_sure),
        cmocka_unit_test(what_faults_read_came_from_below_the_page_cache),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
