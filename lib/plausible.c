/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/plausible.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/codec_flow.h"
#include "lib/field.h"
#include "lib/record_private.h"

static int add(const struct field_place *p, const char *key, uint64_t *sum, uint64_t value, uint64_t max)
{
    if (value > max - *sum)
        return field_refuse(p, key, "is more than a node can have done, with what stands before: above %" PRIu64, max);
    *sum += value;
    return 0;
}

static int add_count(const struct field_place *p, const char *key, uint64_t *sum, uint64_t value)
{
    return add(p, key, sum, value, PLAUSIBLE_COUNT);
}

static int add_ns(const struct field_place *p, const char *key, uint64_t *sum, uint64_t value)
{
    return add(p, key, sum, value, PLAUSIBLE_NS);
}

static int add_values(const struct field_place *p, const char *key, uint64_t *sum, const struct histogram *values)
{
    return add_count(p, key, sum, histogram_count(values));
}

static int add_array(const struct field_place *p, const char *key, uint64_t *sum, const uint64_t *values,
                     unsigned count)
{
    int err = 0;

    for (unsigned i = 0; i < count && !err; i++)
        err = add_count(p, key, sum, values[i]);
    return err;
}

static int check_records(const struct batch *batch, struct codec_error *error)
{
    struct field_place p = {.error = error, .table = "records", .indexed = true};
    struct {
        uint64_t bytes, errors, latency_ns, order, cache, faults, in_flight, in_flight_ns, ops, size, joint, codes;
    } sum = {0};
    int err = 0;

    for (p.at = 0; p.at < batch->record_count && !err; p.at++) {
        const struct record *record = &batch->records[p.at];

        if ((err = add_count(&p, "bytes", &sum.bytes, record->bytes)) ||
            (err = add_count(&p, "errors", &sum.errors, record->errors)) ||
            (err = add_ns(&p, "latency_sum_ns", &sum.latency_ns, record->latency_sum_ns)) ||
            (err = add_values(&p, "latency_ns", &sum.ops, &record->latency_ns)) ||
            (err = add_array(&p, "order", &sum.order, record->order, ORDER_COUNT)) ||
            (err = add_array(&p, "cache", &sum.cache, record->cache, CACHE_COUNTS)) ||
            (err = add_array(&p, "faults", &sum.faults, record->faults, FAULT_KINDS)) ||
            (err = add_values(&p, "error_codes", &sum.codes, &record->error_codes)) ||
            (err = add_count(&p, "in_flight", &sum.in_flight, record->in_flight)) ||
            (err = add_ns(&p, "in_flight_ns", &sum.in_flight_ns, record->in_flight_ns)) ||
            (err = add_values(&p, "size", &sum.size, &record->size)) ||
            (err = add_values(&p, "joint", &sum.joint, &record->joint)))
            break;
    }
    return err;
}

static int check_flows(const struct batch *batch, struct codec_error *error)
{
    struct field_place p = {.error = error, .table = "flows", .indexed = true};
    uint64_t demand[DEMAND_COUNT] = {0}, values[FLOW_KINDS] = {0};
    int err = 0;

    for (p.at = 0; p.at < batch->flow_count && !err; p.at++) {
        const struct flow *flow = &batch->flows[p.at];

        for (uint64_t i = 0; i < flow->length && !err; i++)
            for (unsigned d = 0; d < DEMAND_COUNT && !err; d++)
                err = add_count(&p, codec_demands[d], &demand[d], flow->slots[i].demand[d]);
        for (unsigned kind = 0; kind < FLOW_KINDS && !err; kind++)
            if (!(err = add_values(&p, codec_burst_keys[kind], &values[kind], &flow->burst[kind])))
                err = add_values(&p, codec_steady_keys[kind], &values[kind], &flow->steady[kind]);
    }
    return err;
}

static int check_stations(const struct batch *batch, struct codec_error *error)
{
    struct field_place p = {.error = error, .table = "storage", .indexed = true};
    struct {
        uint64_t ops, bytes, errors, merges, queue_ns, service_ns, values[4];
    } sum = {0};
    int err = 0;

    for (p.at = 0; p.at < batch->station_count && !err; p.at++) {
        const struct station *station = &batch->stations[p.at];

        if ((err = add_count(&p, "ops", &sum.ops, station->ops)) ||
            (err = add_count(&p, "bytes", &sum.bytes, station->bytes)) ||
            (err = add_count(&p, "errors", &sum.errors, station->errors)) ||
            (err = add_count(&p, "merges", &sum.merges, station->merges)) ||
            (err = add_ns(&p, "queue_sum_ns", &sum.queue_ns, station->queue_sum_ns)) ||
            (err = add_ns(&p, "service_sum_ns", &sum.service_ns, station->service_sum_ns)) ||
            (err = add_values(&p, "size", &sum.values[0], &station->size)) ||
            (err = add_values(&p, "queue_ns", &sum.values[1], &station->queue_ns)) ||
            (err = add_values(&p, "service_ns", &sum.values[2], &station->service_ns)) ||
            (err = add_values(&p, "depth", &sum.values[3], &station->depth)))
            break;
    }
    return err;
}

static int check_jobs(const struct batch *batch, struct codec_error *error)
{
    struct field_place p = {.error = error, .table = "jobs", .indexed = true};
    uint64_t watched = 0, exposed = 0, gpu = 0;
    int err = 0;

    for (p.at = 0; p.at < batch->job_count && !err; p.at++) {
        const struct job *job = &batch->jobs[p.at];

        if ((err = add_ns(&p, "watched_ns", &watched, job->watched_ns)) ||
            (err = add_ns(&p, "exposed_ns", &exposed, job->exposed_ns)) ||
            (err = add_ns(&p, "gpu", &gpu, job->gpu.watched_ns)))
            break;
    }
    return err;
}

static int check_coverage(const struct batch *batch, struct codec_error *error)
{
    const struct field_place p = {.error = error, .table = "coverage"}, top = {.error = error};
    const struct coverage *c = &batch->coverage;
    uint64_t sum = 0, waited = 0;
    int err;

    if ((err = add_count(&p, "lost_ops", &sum, c->lost)) || (err = add_count(&p, "killed_ops", &sum, c->killed)) ||
        (err = add_count(&p, "in_flight_ops", &sum, c->in_flight)) ||
        (err = add_count(&p, "unattributed_ops", &sum, c->unattributed)) ||
        (err = add_count(&p, "overflow_ops", &sum, c->overflow)))
        return err;
    return add_ns(&top, "io_pressure", &waited, batch->pressure.some_ns);
}

int batch_plausible(const struct batch *batch, struct codec_error *error)
{
    int err = check_jobs(batch, error);

    if (!err)
        err = check_records(batch, error);
    if (!err)
        err = check_flows(batch, error);
    if (!err)
        err = check_stations(batch, error);
    return err ? err : check_coverage(batch, error);
}

static int tell_dropped(struct batch *batch)
{
    const struct coverage *c = &batch->coverage;
    _cleanup_free_ struct dropped *dropped = calloc(c->dropped_count + 1, sizeof(*dropped));

    if (!dropped)
        return -ENOMEM;
    for (uint32_t i = 0; i < c->dropped_count; i++)
        dropped[i] = c->dropped[i];
    dropped[c->dropped_count] = (struct dropped){
        .stream = batch->stream,
        .first = batch->seq,
        .last = batch->seq,
        .ops = DROPPED_UNKNOWN,
        .start_ns = batch->start_ns,
        .end_ns = batch->start_ns + (int64_t)batch->duration_ns,
        .why = "impossible",
    };
    return batch_dropped(batch, dropped, c->dropped_count + 1);
}

int batch_distrust(struct batch *batch)
{
    struct coverage *c = &batch->coverage;

    for (uint32_t i = 0; i < batch->job_count; i++) {
        batch->jobs[i].watched_ns = batch->jobs[i].exposed_ns = 0;
        batch->jobs[i].gpu = (struct gpu_time){0};
    }
    batch_forget_counts(batch);
    batch->pressure = (struct pressure){0};
    c->lost = c->killed = c->in_flight = c->unattributed = c->overflow = 0;
    return tell_dropped(batch);
}
