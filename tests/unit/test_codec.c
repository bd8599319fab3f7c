/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec.h"
#include "tests/unit/sample.h"

#define _cleanup_batch_ _cleanup_(batch_freep)

/* One of everything, as it goes over the wire. */
static const char golden[] =
    "{\"schema\":\"unblend.batch/1\",\"cluster\":\"c\",\"node\":\"n1\",\"role\":\"client\","
    "\"kernel\":\"6.1.0\",\"boot_id\":\"b\",\"stream\":\"00112233445566778899aabbccddeeff\","
    "\"seq\":7,\"start_ns\":1700000000000000000,\"duration_ns\":10000000000,"
    "\"interval_ms\":10000,"
    "\"jobs\":[{\"job\":\"j1\",\"kind\":\"slurm\",\"user\":\"eve\",\"command\":\"python3\","
    "\"labels\":{\"account\":\"x\"},\"start_ns\":5,\"end_ns\":6,\"exit\":0},"
    "{\"job\":\"j2\",\"kind\":\"command\",\"user\":null,\"command\":\"\",\"labels\":{},"
    "\"start_ns\":null,\"end_ns\":null,\"exit\":null}],"
    "\"volumes\":[{\"volume\":\"v\",\"source\":\"srv:/x\",\"fstype\":\"nfs4\","
    "\"scope\":\"shared\",\"mounts\":[\"/data\"]}],"
    "\"processes\":[{\"pid\":3,\"uid\":1000,\"start_ns\":9,\"command\":\"cat\",\"job\":1,"
    "\"exited\":true}],"
    "\"records\":[{\"job\":0,\"volume\":0,\"op\":\"read\",\"bytes\":12288,\"errors\":1,"
    "\"latency_sum_ns\":4000,\"size\":\"80:3\",\"latency_ns\":\"63:3 1\"},"
    "{\"job\":1,\"volume\":0,\"process\":0,\"op\":\"stat\",\"bytes\":0,\"errors\":0,"
    "\"latency_sum_ns\":10,\"latency_ns\":\"18\"}],"
    "\"slot_ms\":100,\"flows\":[{\"job\":0,\"volume\":0,\"first\":17000000000,\"slots\":10,"
    "\"read_bytes\":\"0*3 4096 8192 0*5\",\"read_ops\":\"0*3 1*2 0*5\",\"data_burst_ns\":\"64 8\","
    "\"in_flight_max\":{\"all\":2,\"read\":2}}],"
    "\"coverage\":{\"lost_ops\":1,\"killed_ops\":2,\"in_flight_ops\":3,\"unattributed_ops\":4,"
    "\"overflow_ops\":5,\"hooks\":[{\"hook\":\"read\",\"state\":\"attached\",\"why\":null},"
    "{\"hook\":\"aio\",\"state\":\"unavailable\",\"why\":\"no BTF\"}],"
    "\"bypass\":[{\"what\":\"spdk\",\"device\":\"nvme0\",\"bytes\":null,\"why\":\"vfio\"}]}}";

static struct batch *decoded(const char *json)
{
    struct codec_error error = {0};
    struct batch *batch = NULL;

    if (codec_decode(json, strlen(json), &batch, &error))
        fail_msg("%s: %s", error.field, error.why);
    return batch;
}

static void the_format_stays(void **state)
{
    _cleanup_batch_ struct batch *b = decoded(golden);
    _cleanup_free_ char *json = NULL;
    size_t size;

    assert_string_equal(b->node, "n1");
    assert_int_equal(b->seq, 7);
    assert_int_equal(b->start_ns, 1700000000000000000);
    assert_string_equal(b->jobs[0].labels[0].value, "x");
    assert_int_equal(b->jobs[0].exit, 0);
    assert_null(b->jobs[1].user);
    assert_int_equal(b->jobs[1].exit, -1);
    assert_int_equal(b->jobs[1].start_ns, 0);
    assert_int_equal(b->volumes[0].scope, SCOPE_SHARED);
    assert_true(b->processes[0].exited);
    assert_int_equal(b->records[0].process, NO_INDEX);
    assert_int_equal(b->records[0].op, OP_READ);
    assert_int_equal(b->records[0].size.cells[0].bucket, 80);
    assert_int_equal(b->records[0].size.cells[0].count, 3);
    assert_int_equal(b->records[0].latency_ns.cells[1].bucket, 64);
    assert_int_equal(record_ops(&b->records[0]), 4);
    assert_int_equal(b->records[1].process, 0);
    assert_false(b->coverage.hooks[1].attached);
    assert_string_equal(b->coverage.bypasses[0].device, "nvme0");
    assert_int_equal(codec_encode(b, &json, &size), 0);
    assert_string_equal(json, golden);
    assert_int_equal(size, strlen(golden));
}

static void random_batches_come_back(void **state)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        _cleanup_batch_ struct batch *b = sample_batch(seed, (uint32_t)(seed % 80));
        _cleanup_batch_ struct batch *again = NULL;
        _cleanup_free_ char *json = NULL;
        struct codec_error error = {0};
        const char *difference;
        size_t size;

        assert_int_equal(codec_encode(b, &json, &size), 0);
        assert_int_equal(strlen(json), size);
        assert_null(strchr(json, '\n'));
        if (codec_decode(json, size, &again, &error))
            fail_msg("seed %ju: %s: %s", (uintmax_t)seed, error.field, error.why);
        difference = sample_difference(b, again);
        if (difference)
            fail_msg("seed %ju: %s", (uintmax_t)seed, difference);
    }
}

/* The golden batch with one place changed, and what is to be said about it. */
struct refusal {
    const char *from, *to;
    const char *field;
    const char *why; /* begins with */
};

static const struct refusal refusals[] = {
    {"unblend.batch/1", "unblend.batch/2", "schema", "is \"unblend.batch/2\", not"},
    {"\"schema\":\"unblend.batch/1\",", "", "schema", "is missing"},
    {"\"cluster\":\"c\"", "\"cluster\":1", "cluster", "is not a string"},
    {"\"node\":\"n1\",", "", "node", "is missing"},
    {"\"node\":\"n1\"", "\"node\":null", "node", "is not a string"},
    {"\"role\":\"client\"", "\"role\":[]", "role", "is not a string"},
    {"\"kernel\":\"6.1.0\",", "", "kernel", "is missing"},
    {"\"boot_id\":\"b\"", "\"boot_id\":{}", "boot_id", "is not a string"},
    {"\"stream\":", "\"Stream\":", "stream", "is missing"},
    {"\"seq\":7", "\"seq\":-1", "seq", "is negative"},
    {"\"seq\":7", "\"seq\":7.5", "seq", "is not a whole number"},
    {"\"seq\":7", "\"seq\":1e3", "seq", "is not a whole number"},
    {"\"seq\":7", "\"seq\":\"7\"", "seq", "is not a whole number"},
    {"\"start_ns\":17", "\"start_ns\":-17", "start_ns", "is negative"},
    {"\"duration_ns\":10000000000", "\"duration_ns\":9223372036854775807", "duration_ns", "ends"},
    {"\"interval_ms\":10000", "\"interval_ms\":4294967296", "interval_ms", "is above 4294967295"},
    {"\"interval_ms\":10000", "\"interval_ms\":1,\"io_pressure\":[1]", "io_pressure", "has not exactly 2 numbers"},
    {"\"interval_ms\":10000", "\"interval_ms\":1,\"io_pressure\":[1,-2]", "io_pressure", "holds what is not a whole number"},
    {"\"jobs\":[", "\"jobs\":7,\"x\":[", "jobs", "is not an array"},
    {"{\"job\":\"j1\"", "7,{\"job\":\"j1\"", "jobs[0]", "is not an object"},
    {"{\"job\":\"j2\"", "{\"job\":\"j1\"", "jobs[1].job", "is the name of another"},
    {"{\"job\":\"j2\"", "{\"job\":2", "jobs[1].job", "is not a string"},
    {"\"kind\":\"slurm\",", "", "jobs[0].kind", "is missing"},
    {"\"user\":null", "\"user\":1", "jobs[1].user", "is not a string"},
    {"\"user\":null,", "", "jobs[1].user", "is missing"},
    {"\"command\":\"python3\",", "", "jobs[0].command", "is missing"},
    {"\"labels\":{}", "\"labels\":[]", "jobs[1].labels", "is not an object"},
    {"\"labels\":{},", "", "jobs[1].labels", "is missing"},
    {"\"account\":\"x\"", "\"account\":1", "jobs[0].labels", "\"account\" is not a string"},
    {"\"start_ns\":5", "\"start_ns\":-5", "jobs[0].start_ns", "is negative"},
    {"\"start_ns\":5,", "", "jobs[0].start_ns", "is missing"},
    {"\"end_ns\":6", "\"end_ns\":true", "jobs[0].end_ns", "is not a whole number"},
    {"\"exit\":0", "\"exit\":-1", "jobs[0].exit", "is negative"},
    {"\"exit\":0", "\"exit\":2147483648", "jobs[0].exit", "is above 2147483647"},
    {"\"volume\":\"v\"", "\"volume\":null", "volumes[0].volume", "is not a string"},
    {"{\"volume\":\"v\"", "{},{\"volume\":\"v\"", "volumes[0].volume", "is missing"},
    {"\"source\":\"srv:/x\",", "", "volumes[0].source", "is missing"},
    {"\"fstype\":\"nfs4\"", "\"fstype\":4", "volumes[0].fstype", "is not a string"},
    {"\"scope\":\"shared\"", "\"scope\":\"both\"", "volumes[0].scope",
     "is \"both\", neither shared nor local"},
    {"\"mounts\":[\"/data\"]", "\"mounts\":\"/data\"", "volumes[0].mounts", "is not an array"},
    {"\"mounts\":[\"/data\"]", "\"mounts\":[\"/\",7]", "volumes[0].mounts", "element 1 is not"},
    {"\"processes\":[{", "\"processes\":[[],{", "processes[0]", "is not an object"},
    {"\"processes\":[", "\"processes\":null,\"x\":[", "processes", "is not an array"},
    {"\"pid\":3", "\"pid\":-3", "processes[0].pid", "is negative"},
    {"\"pid\":3", "\"pid\":3,\"tid\":-3", "processes[0].tid", "is negative"},
    {"\"uid\":1000", "\"uid\":4294967296", "processes[0].uid", "is above 4294967295"},
    {"\"start_ns\":9,", "", "processes[0].start_ns", "is missing"},
    {"\"command\":\"cat\"", "\"command\":null", "processes[0].command", "is not a string"},
    {"\"job\":1,\"exited\"", "\"job\":2,\"exited\"", "processes[0].job",
     "is 2, but there are only 2"},
    {"\"exited\":true", "\"exited\":1", "processes[0].exited", "is neither true nor false"},
    {"\"exited\":true}",
     "\"exited\":true},{\"pid\":3,\"uid\":0,\"start_ns\":9,\"command\":\"\","
     "\"job\":0,\"exited\":false}",
     "processes[1].pid", "with its start is another"},
    {"\"records\":[", "\"records\":{},\"x\":[", "records", "is not an array"},
    {"\"records\":[", "\"records\":[null,", "records[0]", "is not an object"},
    {"{\"job\":0,\"volume\":0,", "{\"volume\":0,", "records[0].job", "is missing"},
    {"{\"job\":0,", "{\"job\":2,", "records[0].job", "is 2, but there are only 2"},
    {"{\"job\":0,", "{\"job\":-1,", "records[0].job", "is negative"},
    {"\"volume\":0,\"op\"", "\"volume\":1,\"op\"", "records[0].volume", "is 1, but there are"},
    {"\"process\":0", "\"process\":1", "records[1].process", "is 1, but there are only 1"},
    {"\"process\":0", "\"process\":4294967295", "records[1].process", "is 4294967295, but"},
    {"\"process\":0", "\"process\":null", "records[1].process", "is not a whole number"},
    {"\"op\":\"read\"", "\"op\":\"pread\"", "records[0].op", "\"pread\" is no operation"},
    {"\"op\":\"read\"", "\"op\":\"\xc3\xbc\\n\"", "records[0].op", "\"???\" is no operation"},
    {"\"op\":\"read\"", "\"op\":1", "records[0].op", "is not a string"},
    {"{\"job\":1,\"volume\":0,\"process\":0,\"op\":\"stat\"",
     "{\"job\":0,\"volume\":0,\"op\":\"read\"", "records[1]", "has the job, volume"},
    {"\"bytes\":12288", "\"bytes\":-1", "records[0].bytes", "is negative"},
    {"\"bytes\":12288,", "", "records[0].bytes", "is missing"},
    {"\"errors\":1", "\"errors\":\"1\"", "records[0].errors", "is not a whole number"},
    {"\"errors\":1", "\"errors\":1,\"order\":[1,2]", "records[0].order", "has not exactly 3"},
    {"\"errors\":1", "\"errors\":1,\"order\":[1,2,-1]", "records[0].order", "holds what is not"},
    {"\"errors\":1", "\"errors\":1,\"order\":5", "records[0].order", "is not an array"},
    {"\"errors\":1", "\"errors\":1,\"cache\":[1,2,3]", "records[0].cache", "has not exactly 4"},
    {"\"errors\":1", "\"errors\":1,\"faults\":[1,2,3,4]", "records[0].faults", "has 4 elements"},
    {"\"errors\":1", "\"errors\":1,\"error_codes\":[]", "records[0].error_codes", "is not an object"},
    {"\"errors\":1", "\"errors\":1,\"error_codes\":{\"EMADEUP\":1}", "records[0].error_codes", "is not an object"},
    {"\"errors\":1", "\"errors\":1,\"error_codes\":{\"EIO\":-1}", "records[0].error_codes", "is not an object"},
    {"\"errors\":1", "\"errors\":1,\"error_codes\":{\"496\":1}", "records[0].error_codes", "is not an object"},
    {"\"errors\":1", "\"errors\":1,\"error_codes\":{\"0\":1}", "records[0].error_codes", "is not an object"},
    {"\"errors\":1", "\"errors\":1,\"joint\":5", "records[0].joint", "is not a string"},
    {"\"errors\":1", "\"errors\":1,\"joint\":\"577:\"", "records[0].joint", "is no list of"},
    {"\"errors\":1", "\"errors\":1,\"joint\":\"3968:1\"", "records[0].joint", "has a bucket or a count that is too large"},
    {"\"errors\":1", "\"errors\":1,\"in_flight\":-1", "records[0].in_flight", "is negative"},
    {"\"errors\":1", "\"errors\":1,\"oldest_ns\":\"x\"", "records[0].oldest_ns", "is not a whole"},
    {"\"latency_sum_ns\":4000", "\"latency_sum_ns\":0.5", "records[0].latency_sum_ns",
     "is not a whole number"},
    {"\"size\":\"80:3\"", "\"size\":\"80:\"", "records[0].size", "is no list of"},
    {"\"size\":\"80:3\"", "\"size\":\"496\"", "records[0].size", "has a bucket or"},
    {"\"size\":\"80:3\"", "\"size\":[80,3]", "records[0].size", "is not a string"},
    {",\"latency_ns\":\"63:3 1\"", "", "records[0].latency_ns", "is missing"},
    {"\"63:3 1\"", "\"63:3 0\"", "records[0].latency_ns", "is no list of"},
    {"\"errors\":1", "\"errors\":100010", "records[0].errors", "is of more operations than"},
    {"\"errors\":1", "\"errors\":9223372036854775807", "records[0].errors", "is of more operations than"},
    {"\"errors\":1", "\"errors\":1,\"order\":[0,0,1000000]", "records[0].order", "is of more operations than"},
    {"\"errors\":1", "\"errors\":1,\"error_codes\":{\"EIO\":1000000}", "records[0].error_codes", "is of more operations"},
    {"\"80:3\"", "\"80:1000000\"", "records[0].size", "is of more operations than"},
    {"\"slot_ms\":100", "\"slot_ms\":50", "slot_ms", "is 50, not 100"},
    {"\"slot_ms\":100,", "", "slot_ms", "is missing"},
    {"\"flows\":[", "\"flows\":0,\"x\":[", "flows", "is not an array"},
    {"\"flows\":[", "\"flows\":[1,", "flows[0]", "is not an object"},
    {"\"volume\":0,\"first\"", "\"volume\":1,\"first\"", "flows[0].volume", "is 1, but there are"},
    {"\"first\":17000000000", "\"first\":9223372036854775807", "flows[0].first", "is above"},
    {"\"slots\":10", "\"slots\":40001", "flows[0].slots", "is above 40000"},
    {"\"slots\":10", "\"slots\":9", "flows[0].read_bytes", "is no list of value*times"},
    {"\"slots\":10", "\"slots\":11", "flows[0].read_bytes", "is no list of value*times"},
    {"0*3 4096", "0*0 4096", "flows[0].read_bytes", "is no list of value*times"},
    {"0*3 4096", "0*3  4096", "flows[0].read_bytes", "is no list of value*times"},
    {"0*3 1*2 0*5", "0*3 1*2 0*5 ", "flows[0].read_ops", "is no list of value*times"},
    {"0*3 1*2 0*5", "0*3 1*4294967298 0*5", "flows[0].read_ops", "is no list of value*times"},
    {"\"0*3 1*2 0*5\"", "7", "flows[0].read_ops", "is not a string"},
    {"\"data_burst_ns\":\"64 8\"", "\"data_burst_ns\":\"64 0\"", "flows[0].data_burst_ns", "is no list of"},
    {"\"all\":2", "\"any\":2", "flows[0].in_flight_max", "is no object of"},
    {"\"all\":2", "\"all\":-2", "flows[0].in_flight_max", "is no object of"},
    {"\"all\":2", "\"block_read\":2", "flows[0].in_flight_max", "is no object of"},
    {"\"read\":2}}]", "\"read\":2}},{\"job\":0,\"volume\":0,\"first\":0,\"slots\":0}]", "flows[1]",
     "has the job and the volume"},
    {"\"coverage\":{", "\"trees\":{},\"coverage\":{", "trees", "is not an array"},
    {"\"coverage\":{", "\"trees\":[7],\"coverage\":{", "trees[0]", "is not an object"},
    {"\"coverage\":{", "\"trees\":[{\"job\":0,\"volume\":0}],\"coverage\":{", "trees[0].tree", "is missing"},
    {"\"coverage\":{", "\"trees\":[{\"job\":9,\"volume\":0,\"tree\":\"/\"}],\"coverage\":{", "trees[0].job", "is 9, but"},
    {"\"coverage\":{", "\"trees\":[{\"job\":0,\"volume\":0,\"tree\":\"/\",\"opens\":-1}],\"coverage\":{", "trees[0].opens",
     "is negative"},
    {"\"coverage\":{", "\"trees\":[{\"job\":0,\"volume\":0,\"tree\":\"/\",\"files\":\"x\"}],\"coverage\":{", "trees[0].files",
     "is no shift"},
    {"\"coverage\":{", "\"trees\":[{\"job\":0,\"volume\":0,\"tree\":\"/\"},{\"job\":0,\"volume\":0,\"tree\":\"/\"}],\"coverage\":{",
     "trees[1]", "has the job, the volume and the name"},
    {"\"coverage\":{", "\"coverage\":[],\"x\":{", "coverage.lost_ops", "is missing"},
    {"\"coverage\":{", "\"x\":{", "coverage", "is missing"},
    {"\"lost_ops\":1", "\"lost_ops\":-1", "coverage.lost_ops", "is negative"},
    {"\"killed_ops\":2,", "", "coverage.killed_ops", "is missing"},
    {"\"in_flight_ops\":3", "\"in_flight_ops\":null", "coverage.in_flight_ops", "is not a whole"},
    {"\"unattributed_ops\":4,", "", "coverage.unattributed_ops", "is missing"},
    {"\"overflow_ops\":5", "\"overflow_ops\":{}", "coverage.overflow_ops", "is not a whole"},
    {"\"overflow_ops\":5", "\"overflow_ops\":5,\"shed_ms\":7", "coverage.shed_ms.job_keys", "is missing"},
    {"\"overflow_ops\":5", "\"overflow_ops\":5,\"shed_ms\":{\"detached\":-1}", "coverage.shed_ms.detached",
     "is negative"},
    {"\"hooks\":[", "\"hooks\":0,\"x\":[", "coverage.hooks", "is not an array"},
    {"\"hook\":\"aio\",", "", "coverage.hooks[1].hook", "is missing"},
    {"\"attached\"", "\"on\"", "coverage.hooks[0].state", "is \"on\", neither"},
    {"\"why\":\"no BTF\"", "\"why\":0", "coverage.hooks[1].why", "is not a string"},
    {"\"hooks\":[", "\"hooks\":[0,", "coverage.hooks[0].hook", "is missing"},
    {"\"bypass\":[", "\"bypass\":{},\"x\":[", "coverage.bypass", "is not an array"},
    {"\"what\":\"spdk\",", "", "coverage.bypass[0].what", "is missing"},
    {"\"device\":\"nvme0\"", "\"device\":null", "coverage.bypass[0].device", "is not a string"},
    {"\"why\":\"vfio\"", "\"why\":[]", "coverage.bypass[0].why", "is not a string"},
    /* no JSON */
    {"\"seq\":7", "\"seq\":9223372036854775808", "seq", "is a number that is too large"},
    {"\"seq\":7", "\"seq\":1e999", "seq", "is a number that is too large"},
    {"\"seq\":7", "\"seq\":7,\"new\":{\"a\":[1,{\"b,]\\\"\":18446744073709551616}]}", "new.a[1].b,]\\\"",
     "is a number that is too large"},
    {"\"seq\":7", "\"seq\":7,\"new\":[[1],[2,-9223372036854775809]]", "new[1]", "is a number that is too large"},
    {"\"seq\":7", "\"seq\":7,\"seq\":8", "", "is no JSON: column"},
    {"\"n1\"", "\"n\\u0000\"", "node", "holds \\u0000"},
    {"\"n1\"", "\"n\xff\"", "", "is no JSON: column"},
    {"\"n1\"", "\"n\\ud800\"", "", "is no JSON: column"},
    {"\"why\":\"vfio\"}]}}", "\"why\":\"vfio\"}]}", "", "is no JSON: column"},
    {"\"why\":\"vfio\"}]}}", "\"why\":\"vfio\"}]}}{}", "", "is no JSON: column"},
    {"\"role\"", "\"x\":[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]],\"role\"", "",
     "is nested more than 16 deep"},
};

/* Counters are read while they move: an interval may have errors and sizes of operations that the next one has. */
static void what_ends_while_it_is_counted_is_no_reason(void **state)
{
    static const char from[] = "\"errors\":1", to[] = "\"errors\":100000,\"order\":[0,100000,0]";
    const char *at = strstr(golden, from);
    struct batch *batch;
    char json[4096];

    snprintf(json, sizeof(json), "%.*s%s%s", (int)(at - golden), golden, to, at + strlen(from));
    batch = decoded(json);
    assert_int_equal(batch->records[0].errors, 100000);
    batch_free(batch);
}

static void every_refusal_names_its_field(void **state)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *r = &refusals[i];
        const char *at = strstr(golden, r->from);
        struct codec_error error = {{0}, {0}};
        struct batch *batch = NULL;
        char json[4096];
        int size;

        assert_non_null(at);
        size = snprintf(json, sizeof(json), "%.*s%s%s", (int)(at - golden), golden, r->to,
                        at + strlen(r->from));
        assert_int_equal(codec_decode(json, (size_t)size, &batch, &error), -EBADMSG);
        assert_null(batch);
        if (strcmp(error.field, r->field) != 0 || strncmp(error.why, r->why, strlen(r->why)) != 0)
            fail_msg("%s -> %s: \"%s\": \"%s\"", r->from, r->to, error.field, error.why);
    }
}

static void every_cut_is_refused(void **state)
{
    for (size_t size = 0; size + 1 < sizeof(golden); size++) {
        struct codec_error error = {{0}, {0}};
        struct batch *batch = NULL;

        assert_int_equal(codec_decode(golden, size, &batch, &error), -EBADMSG);
        assert_string_equal(error.field, "");
        assert_int_not_equal(error.why[0], '\0');
    }
}

/* What a newer agent adds is passed over; the line's own end is no part of it. */
static void unknown_keys_are_ignored(void **state)
{
    const char *at = strstr(golden, "\"op\":");
    _cleanup_batch_ struct batch *plain = decoded(golden), *more = NULL;
    char json[4096];

    snprintf(json, sizeof(json), "%.*s\"bursts\":[{\"x\":[1,2.5,null]}],%s\r\n", (int)(at - golden),
             golden, at);
    more = decoded(json);
    assert_null(sample_difference(plain, more));
}

static void too_many_containers_are_refused(void **state)
{
    const size_t count = 3200000;
    _cleanup_free_ char *json = malloc(3 * count + 64);
    struct codec_error error = {{0}, {0}};
    struct batch *batch = NULL;
    char *to = json + sprintf(json, "{\"jobs\":[{}");

    for (size_t i = 0; i < count; i++)
        to = stpcpy(to, ",{}");
    to = stpcpy(to, "]}");
    assert_int_equal(codec_decode(json, (size_t)(to - json), &batch, &error), -EBADMSG);
    assert_string_equal(error.why, "has more than 3100000 arrays and objects");
}

/* What JSON cannot hold stays at its limit; a batch that was encoded can be decoded. */
static void counts_are_clamped(void **state)
{
    _cleanup_batch_ struct batch *b = decoded(golden), *again = NULL;
    _cleanup_free_ char *json = NULL;
    size_t size;

    b->seq = UINT64_MAX;
    b->records[0].bytes = UINT64_MAX;
    b->records[0].latency_sum_ns = (uint64_t)INT64_MAX + 1;
    b->coverage.lost = UINT64_MAX;
    b->start_ns = -1;
    b->processes[0].start_ns = -5;
    for (unsigned bucket = 100; bucket < 103; bucket++)
        assert_int_equal(histogram_add_bucket(&b->records[0].latency_ns, bucket, INT64_MAX), 0);
    assert_int_equal(codec_encode(b, &json, &size), 0);
    again = decoded(json);
    assert_int_equal(again->seq, INT64_MAX);
    assert_int_equal(again->records[0].bytes, INT64_MAX);
    assert_int_equal(again->records[0].latency_sum_ns, INT64_MAX);
    assert_int_equal(again->coverage.lost, INT64_MAX);
    assert_int_equal(again->start_ns, 0);
    assert_int_equal(again->processes[0].start_ns, 0);
    assert_int_equal(record_ops(&again->records[0]), INT64_MAX);
}

/* Strings that were set past batch_set() do not stop a batch either. */
static void any_bytes_can_be_encoded(void **state)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"\xff", "\xef\xbf\xbd"},
        {"a\xc3", "a\xef\xbf\xbd"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
        {"\xe2\x82x", "\xef\xbf\xbd\xef\xbf\xbdx"},
        {"tab\t nl\n esc\x1b quote\" back\\", "tab\t nl\n esc\x1b quote\" back\\"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_batch_ struct batch *b = decoded(golden), *again = NULL;
        _cleanup_free_ char *json = NULL;
        struct label label = {cases[i].bytes, cases[i].bytes};
        size_t size;

        b->node = cases[i].bytes;
        b->jobs[0].labels = &label;
        assert_int_equal(codec_encode(b, &json, &size), 0);
        again = decoded(json);
        assert_string_equal(again->node, cases[i].text);
        assert_string_equal(again->jobs[0].labels[0].name, cases[i].text);
        assert_string_equal(again->jobs[0].labels[0].value, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_format_stays),
        cmocka_unit_test(random_batches_come_back),
        cmocka_unit_test(what_ends_while_it_is_counted_is_no_reason),
        cmocka_unit_test(every_refusal_names_its_field),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(unknown_keys_are_ignored),
        cmocka_unit_test(too_many_containers_are_refused),
        cmocka_unit_test(counts_are_clamped),
        cmocka_unit_test(any_bytes_can_be_encoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
