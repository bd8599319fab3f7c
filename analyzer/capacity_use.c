/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demand against limits, and what is required of a platform. */
#include "analyzer/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* Which metrics draw on the same limit, when it is a platform's: each takes its share of it. */
static const enum metric_id pools[][2] = {
    {METRIC_READ_BYTES, METRIC_WRITE_BYTES},
    {METRIC_READ_OPS, METRIC_WRITE_OPS},
    {METRIC_METADATA_OPS, METRIC_COUNT},
    {METRIC_IN_FLIGHT, METRIC_COUNT},
};

static void set_limits(const struct offer *offer, struct capacity_entry *entry)
{
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        entry->limit[m] = NAN;
    if (offer) {
        offer_limits(offer, offer->nodes, entry->limit);
        entry->source = LIMIT_PLATFORM;
        return;
    }
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        for (unsigned w = 0; w < CAPACITY_WINDOWS; w++)
            if (entry->demand[m][w].known && entry->demand[m][w].max > 0) {
                entry->limit[m] = entry->demand[m][w].max;
                entry->source = LIMIT_HIGHEST_SEEN;
                break; /* the shortest window has the highest */
            }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Adds what one metric uses of its limit, by window. */
static int add_use(const struct load *load, const struct capacity_entry *entry, enum metric_id metric,
                   uint32_t window_ms, int64_t from, int64_t last, double *use, size_t count)
{
    bool flight = metric == METRIC_IN_FLIGHT;
    _cleanup_free_ double *x = NULL;
    size_t windows;
    int err;

    if (metric == METRIC_COUNT || !(entry->limit[metric] > 0))
        return 0;
    err = series_windows(flight ? load->busy : load->series, flight ? BUSY_TIMES : DEMAND_BIT(metrics[metric].demand),
                         window_ms, from, last, &x, &windows);
    if (err)
        return err == -ENODATA ? 0 : err;
    for (size_t i = 0; i < windows && i < count; i++)
        use[i] += x[i] / (window_ms / 1e3) / (flight ? 1e9 : 1) / entry->limit[metric];
    return 0;
}

static int use_of(const struct load *load, struct capacity_entry *entry, unsigned w, int64_t from, int64_t last)
{
    uint32_t window_ms = capacity_window_ms[w];
    size_t count = (size_t)(last / window_ms - from / window_ms + 1), most = 0;
    _cleanup_free_ double *use = calloc(count, sizeof(*use)), *pool = calloc(count, sizeof(*pool));
    _cleanup_free_ unsigned char *binding = calloc(count, 1);
    bool shared = entry->source == LIMIT_PLATFORM;
    double sum = 0;

    if (!use || !pool || !binding)
        return -ENOMEM;
    for (size_t p = 0; p < sizeof(pools) / sizeof(*pools); p++)
        for (unsigned side = 0; side < 2; side++) {
            int err;

            if (!side || !shared)
                memset(pool, 0, count * sizeof(*pool));
            err = add_use(load, entry, pools[p][side], window_ms, from, last, pool, count);
            if (err)
                return err;
            for (size_t i = 0; i < count; i++)
                if (pool[i] > use[i]) {
                    use[i] = pool[i];
                    binding[i] = (unsigned char)pools[p][side];
                }
        }
    for (size_t i = 0; i < count; i++) {
        sum += use[i];
        most = use[i] > use[most] ? i : most;
    }
    entry->use[w] = (struct capacity_use){true, sum / (double)count, 0, use[most],
                                          (from / window_ms + (int64_t)most) * window_ms, binding[most]};
    qsort(use, count, sizeof(*use), by_value);
    entry->use[w].p95 = use[(size_t)ceil(0.95 * (double)count) - 1];
    return 0;
}

int capacity_limit(const struct load *load, const struct offer *offer, const struct series *span,
                   struct capacity_entry *entry)
{
    set_limits(offer, entry);
    if (entry->source == LIMIT_NONE)
        return 0;
    for (unsigned w = 0; w < CAPACITY_WINDOWS; w++) {
        int64_t from, last;
        bool known = false;
        int err;

        for (unsigned m = 0; m < METRIC_COUNT; m++)
            known |= entry->demand[m][w].known && entry->limit[m] > 0;
        if (!known || capacity_window_ms[w] % load->series->slot_ms ||
            !capacity_span(span, capacity_window_ms[w], &from, &last))
            continue; /* metrics are known one by one only, and use is of one instant */
        err = use_of(load, entry, w, from, last);
        if (err)
            return err;
    }
    return 0;
}

/* The tallies of all shared volumes, or rather of the operations behind a metric. */
static int merge_shared(const struct aggregate *totals, enum metric_id metric, struct histogram *size,
                        struct histogram *latency)
{
    int err = 0;

    for (uint32_t i = 0; i < totals->volume_count; i++)
        for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
            const struct record *record = &totals->volumes[i].tally.op[op];
            bool counts = metric == METRIC_METADATA_OPS ? operation_info(op)->class == OP_CLASS_METADATA
                          : metric == METRIC_IN_FLIGHT ? true
                          : metric == METRIC_READ_BYTES || metric == METRIC_READ_OPS
                              ? op == OP_READ || op == OP_MMAP_FAULT
                              : op == OP_WRITE;

            if (totals->volumes[i].scope != SCOPE_SHARED || !counts)
                continue;
            err = histogram_merge(latency, &record->latency_ns);
            if (!err && operation_info(op)->class != OP_CLASS_METADATA)
                err = histogram_merge(size, &record->size);
            if (err)
                return err;
        }
    return 0;
}

static int require(const struct aggregate *totals, const struct offer *offer, const struct capacity_entry *entry,
                   enum metric_id metric, struct need *out)
{
    const struct capacity_demand *longest = NULL, *peak = NULL;
    struct histogram size = {0}, latency = {0};
    int err;

    for (unsigned w = 0; w + 1 < CAPACITY_WINDOWS; w++) /* up to a minute */
        if (entry->demand[metric][w].known) {
            longest = &entry->demand[metric][w];
            if (!peak || w <= CAPACITY_SECOND)
                peak = longest;
        }
    if (!longest)
        return -ENODATA;
    *out = (struct need){
        .metric = metric,
        .sustained = longest->p95,
        .peak = peak->max,
        .above_s = longest->longest_above_p95_s,
        .node_lost = offer && offer->nodes > 1 ? peak->max * offer->nodes / (offer->nodes - 1) : NAN,
        .peak_ms = peak->max_ms,
    };
    err = merge_shared(totals, metric, &size, &latency);
    if (!err && metric != METRIC_METADATA_OPS && metric != METRIC_IN_FLIGHT)
        out->sized = histogram_quantile(&size, 0.5, true, &out->size_p50) &&
                     histogram_quantile(&size, 0.95, true, &out->size_p95);
    if (!err && histogram_quantile(&latency, 0.5, false, &out->latency_p50_ns))
        histogram_quantile(&latency, 0.99, false, &out->latency_p99_ns);
    histogram_clear(&size);
    histogram_clear(&latency);
    return err;
}

int capacity_require(const struct aggregate *totals, const struct offer *offer, struct capacity *capacity)
{
    for (unsigned m = 0; m < METRIC_COUNT && capacity->cluster_count; m++) {
        struct need *r = &capacity->required[capacity->required_count];
        int err = require(totals, offer, &capacity->cluster[0], m, r);

        if (!err && r->peak > 0)
            capacity->required_count++;
        else if (err && err != -ENODATA)
            return err;
    }
    for (uint32_t i = 0; i < capacity->required_count; i++)
        for (uint32_t j = 0; j < capacity->required_count; j++)
            if (i != j && capacity->required[i].peak_ms &&
                llabs(capacity->required[i].peak_ms - capacity->required[j].peak_ms) < 1000)
                capacity->required[i].with |= 1u << capacity->required[j].metric;
    return 0;
}
