/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/reworked.h"

/* Adding one record, or one batch, to another. */

#define FOLLOWS_NS INT64_C(1000000000)

/* Whether a sum is one that JSON and PostgreSQL can hold. */
static bool fits(uint64_t a, uint64_t b)
{
    return a <= INT64_MAX && b <= INT64_MAX - a;
}

static void add_count(uint64_t *sum, uint64_t count)
{
    *sum = fits(*sum, count) ? *sum + count : INT64_MAX;
}

static bool all_fit(const uint64_t *a, const uint64_t *b, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!fits(a[i], b[i]))
            return false;
    return true;
}

static void add_all(uint64_t *a, const uint64_t *b, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        a[i] += b[i];
}

int record_add(struct record *dst, const struct record *src)
{
    int err;

    if (!fits(dst->bytes, src->bytes) || !fits(dst->errors, src->errors) ||
        !fits(dst->latency_sum_ns, src->latency_sum_ns) || !all_fit(dst->order, src->order, ORDER_COUNT) ||
        !all_fit(dst->cache, src->cache, CACHE_COUNTS) || !all_fit(dst->faults, src->faults, FAULT_KINDS))
        return -ERANGE;
    err = histogram_prepare(&dst->size, &src->size);
    if (!err)
        err = histogram_prepare(&dst->joint, &src->joint);
    if (!err)
        err = histogram_prepare(&dst->latency_ns, &src->latency_ns);
    if (!err)
        err = histogram_prepare(&dst->error_codes, &src->error_codes);
    if (err)
        return err;
    histogram_merge_prepared(&dst->size, &src->size);
    histogram_merge_prepared(&dst->joint, &src->joint);
    histogram_merge_prepared(&dst->latency_ns, &src->latency_ns);
    histogram_merge_prepared(&dst->error_codes, &src->error_codes);
    dst->bytes += src->bytes;
    dst->errors += src->errors;
    dst->latency_sum_ns += src->latency_sum_ns;
    add_all(dst->order, src->order, ORDER_COUNT);
    add_all(dst->cache, src->cache, CACHE_COUNTS);
    add_all(dst->faults, src->faults, FAULT_KINDS);
    add_count(&dst->in_flight, src->in_flight);
    add_count(&dst->in_flight_ns, src->in_flight_ns);
    if (src->oldest_ns > dst->oldest_ns)
        dst->oldest_ns = src->oldest_ns;
    return 0;
}

static int take_over(struct batch *dst, const char **field, const char *value)
{
    return **field ? 0 : batch_set(dst, field, value);
}

/* Of intervals of which one is not known, the sum is not known. */
static void merge_pressure(struct batch *dst, const struct batch *src)
{
    struct pressure *p = &dst->pressure;

    if (!dst->duration_ns)
        *p = src->pressure;
    else if (!p->known || !src->pressure.known)
        *p = (struct pressure){0};
    else {
        add_count(&p->some_ns, src->pressure.some_ns);
        add_count(&p->full_ns, src->pressure.full_ns);
    }
}

static int merge_identity(struct batch *dst, const struct batch *src)
{
    int64_t end = src->start_ns + (int64_t)src->duration_ns;
    int64_t dst_end = dst->start_ns + (int64_t)dst->duration_ns;

    if (take_over(dst, &dst->cluster, src->cluster) || take_over(dst, &dst->node, src->node) ||
        take_over(dst, &dst->role, src->role) || take_over(dst, &dst->kernel, src->kernel) ||
        take_over(dst, &dst->boot_id, src->boot_id))
        return -ENOMEM;
    merge_pressure(dst, src);
    if (!dst->interval_ms)
        dst->interval_ms = src->interval_ms;
    if (!dst->duration_ns) {
        dst->start_ns = src->start_ns;
        dst_end = end;
    }
    if (src->start_ns < dst->start_ns)
        dst->start_ns = src->start_ns;
    dst->duration_ns = (uint64_t)((end > dst_end ? end : dst_end) - dst->start_ns);
    return 0;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* They hardly ever change, and copying them each second would fill the arena. */
static bool same_findings(const struct coverage *a, const struct coverage *b)
{
    bool same = a->hook_count == b->hook_count && a->bypass_count == b->bypass_count;

    for (uint32_t i = 0; same && i < a->hook_count; i++)
        same = a->hooks[i].attached == b->hooks[i].attached &&
               same_text(a->hooks[i].name, b->hooks[i].name) &&
               same_text(a->hooks[i].why, b->hooks[i].why);
    for (uint32_t i = 0; same && i < a->bypass_count; i++)
        same = same_text(a->bypasses[i].what, b->bypasses[i].what) &&
               same_text(a->bypasses[i].device, b->bypasses[i].device) &&
               same_text(a->bypasses[i].why, b->bypasses[i].why);
    return same;
}

/* Both lists; the pointers of the first stay good, for they live as long as the batch. */
static int merge_dropped(struct batch *dst, const struct coverage *src)
{
    uint32_t before = dst->coverage.dropped_count, count = before + src->dropped_count;
    _cleanup_free_ struct dropped *both = calloc(count + 1, sizeof(*both));

    if (!both)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        both[i] = i < before ? dst->coverage.dropped[i] : src->dropped[i - before];
    return batch_dropped(dst, both, count);
}

static int merge_coverage(struct batch *dst, const struct coverage *src)
{
    struct coverage *c = &dst->coverage;

    add_count(&c->lost, src->lost);
    add_count(&c->killed, src->killed);
    add_count(&c->unattributed, src->unattributed);
    add_count(&c->overflow, src->overflow);
    for (unsigned i = 0; i < SHED_COUNT; i++)
        add_count(&c->shed_ms[i], src->shed_ms[i]);
    c->in_flight = src->in_flight;
    if (src->dropped_count && merge_dropped(dst, src))
        return -ENOMEM;
    if (same_findings(c, src))
        return 0;
    if (batch_hooks(dst, src->hooks, src->hook_count))
        return -ENOMEM;
    return batch_bypasses(dst, src->bypasses, src->bypass_count);
}

/* What is in flight is known of the later end only. */
static int merge_stations(struct batch *dst, const struct batch *src, const uint32_t *jobs, const uint32_t *volumes)
{
    int err = 0;

    for (uint32_t i = 0; i < dst->station_count; i++)
        dst->stations[i].in_flight = 0;
    for (uint32_t i = 0; !err && i < src->station_count; i++) {
        struct station key = src->stations[i], *to;

        key.volume = volumes[key.volume];
        key.job = key.job == NO_INDEX ? NO_INDEX : jobs[key.job];
        err = batch_station(dst, &key, &to);
        if (!err)
            err = station_add(to, &src->stations[i]);
    }
    return err;
}

static int merge_trees(struct batch *dst, const struct batch *src, const uint32_t *jobs, const uint32_t *volumes)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < src->tree_count; i++) {
        const struct tree *from = &src->trees[i];
        struct tree *to;

        err = batch_tree(dst, jobs[from->job], volumes[from->volume], from->name, &to);
        if (!err)
            err = tree_merge(to, from);
    }
    return err;
}

int batch_merge(struct batch *dst, const struct batch *src, enum grain grain)
{
    _cleanup_free_ uint32_t *jobs = calloc(src->job_count + 1, sizeof(*jobs));
    _cleanup_free_ uint32_t *volumes = calloc(src->volume_count + 1, sizeof(*volumes));
    _cleanup_free_ uint32_t *processes = calloc(src->process_count + 1, sizeof(*processes));
    _cleanup_free_ uint64_t *reworked = NULL;
    int err;

    if (!jobs || !volumes || !processes || merge_identity(dst, src) ||
        merge_coverage(dst, &src->coverage) || (grain < GRAIN_PROCESSES && reworked_of(src, &reworked)))
        return -ENOMEM;
    for (uint32_t i = 0; i < src->job_count; i++) {
        if (batch_job(dst, &src->jobs[i], &jobs[i]))
            return -ENOMEM;
        dst->jobs[jobs[i]].watched_ns += src->jobs[i].watched_ns;
        dst->jobs[jobs[i]].exposed_ns += src->jobs[i].exposed_ns;
        gpu_time_add(&dst->jobs[jobs[i]].gpu, &src->jobs[i].gpu);
    }
    for (uint32_t i = 0; i < src->volume_count; i++)
        if (batch_volume(dst, &src->volumes[i], &volumes[i]))
            return -ENOMEM;
    for (uint32_t i = 0; grain >= GRAIN_PROCESSES && i < src->process_count; i++) {
        struct process process = src->processes[i];

        process.job = jobs[process.job];
        if (grain < GRAIN_THREADS)
            process.tid = 0;
        if (batch_process(dst, &process, &processes[i]))
            return -ENOMEM;
    }
    /* What is in flight is known of the later end only. */
    for (uint32_t i = 0; i < dst->record_count; i++)
        dst->records[i].in_flight = dst->records[i].in_flight_ns = dst->records[i].oldest_ns = 0;
    for (uint32_t i = 0; i < src->record_count; i++) {
        const struct record *from = &src->records[i];
        bool process = grain >= GRAIN_PROCESSES && from->process != NO_INDEX;
        struct record *to;

        err = batch_record(dst, jobs[from->job], volumes[from->volume],
                           process ? processes[from->process] : NO_INDEX, from->op, &to);
        if (!err)
            err = record_add(to, from);
        if (err)
            return err;
        if (reworked)
            add_count(&to->cache[CACHE_REWORKED_BYTES], reworked[i]);
    }
    for (uint32_t i = 0; i < src->flow_count; i++) {
        struct flow *to;

        err = batch_flow(dst, jobs[src->flows[i].job], volumes[src->flows[i].volume], &to);
        if (!err)
            err = flow_merge(to, &src->flows[i]);
        if (err)
            return err;
    }
    err = merge_stations(dst, src, jobs, volumes);
    return err ? err : merge_trees(dst, src, jobs, volumes);
}

bool batch_follows(const struct batch *batch, const struct batch *before)
{
    int64_t apart = batch->start_ns - (before->start_ns + (int64_t)before->duration_ns);

    return apart > -FOLLOWS_NS && apart < FOLLOWS_NS;
}
