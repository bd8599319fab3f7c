/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demand against limits, and what is required of a platform. */
#include "analyzer/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/order.h"

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

/* The windows of a span in which a load is, of one metric or the other: no more than its series have slots. Those of
   time inside operations that the other series does not reach stand behind it. */
struct places {
    int64_t first, busy_first; /* numbers of windows */
    size_t count, all;
    uint32_t window_ms;
    int64_t from, last; /* of the span */
};

static int64_t number_of(const struct places *places, size_t place)
{
    return place < places->count ? places->first + (int64_t)place
                                 : places->busy_first + (int64_t)(place - places->count);
}

static size_t place_of(const struct places *places, int64_t number)
{
    bool first = number >= places->first && number < places->first + (int64_t)places->count;

    return first ? (size_t)(number - places->first) : places->count + (size_t)(number - places->busy_first);
}

static int find_places(const struct load *load, uint32_t window_ms, int64_t from, int64_t last, struct places *out)
{
    struct series_part part, busy = {0};
    int err = series_part(load->series, 0, window_ms, from, last, &part);

    if (err)
        return err;
    err = series_part(load->busy, 0, window_ms, from, last, &busy);
    if (!err || err == -ENODATA)
        *out = (struct places){part.first, busy.first, part.count, part.count + busy.count, window_ms, from, last};
    free(part.sums);
    free(busy.sums);
    return err == -ENODATA ? 0 : err;
}

/* Adds what one metric uses of its limit, by place. */
static int add_use(const struct load *load, const struct capacity_entry *entry, enum metric_id metric,
                   const struct places *places, double *use)
{
    bool flight = metric == METRIC_IN_FLIGHT;
    double unit = places->window_ms / 1e3 * (flight ? 1e9 : 1);
    struct series_part part;
    int err;

    if (metric == METRIC_COUNT || !(entry->limit[metric] > 0))
        return 0;
    err = series_part(flight ? load->busy : load->series, flight ? BUSY_TIMES : DEMAND_BIT(metrics[metric].demand),
                      places->window_ms, places->from, places->last, &part);
    if (err)
        return err == -ENODATA ? 0 : err;
    for (size_t i = 0; i < part.count; i++)
        use[place_of(places, part.first + (int64_t)i)] += part.sums[i] / unit / entry->limit[metric];
    free(part.sums);
    return 0;
}

/* By place: the most that any limit is used, and which one. */
static int add_pools(const struct load *load, const struct capacity_entry *entry, const struct places *places,
                     double *use, unsigned char *binding)
{
    _cleanup_free_ double *pool = calloc(places->all + 1, sizeof(*pool));

    if (!pool)
        return -ENOMEM;
    for (size_t p = 0; p < sizeof(pools) / sizeof(*pools); p++)
        for (unsigned side = 0; side < 2; side++) {
            int err;

            if (!side || entry->source != LIMIT_PLATFORM)
                memset(pool, 0, places->all * sizeof(*pool));
            err = add_use(load, entry, pools[p][side], places, pool);
            if (err)
                return err;
            for (size_t i = 0; i < places->all; i++)
                if (pool[i] > use[i]) {
                    use[i] = pool[i];
                    binding[i] = (unsigned char)pools[p][side];
                }
        }
    return 0;
}

static int use_of(const struct load *load, struct capacity_entry *entry, unsigned w, int64_t from, int64_t last)
{
    const uint32_t window_ms = capacity_window_ms[w];
    const uint64_t windows = (uint64_t)(last / window_ms - from / window_ms + 1);
    _cleanup_free_ double *use = NULL;
    _cleanup_free_ unsigned char *binding = NULL;
    struct capacity_use *out = &entry->use[w];
    struct places places;
    size_t used = 0, most = 0;
    double sum = 0;
    int err = find_places(load, window_ms, from, last, &places);

    if (err)
        return err;
    use = calloc(places.all + 1, sizeof(*use));
    binding = calloc(places.all + 1, 1);
    if (!use || !binding)
        return -ENOMEM;
    err = add_pools(load, entry, &places, use, binding);
    if (err)
        return err;
    for (size_t i = 0; i < places.all; i++) {
        sum += use[i];
        most = use[i] > use[most] ? i : most;
    }
    *out = (struct capacity_use){true, sum / (double)windows, 0, use[most],
                                 use[most] > 0 ? number_of(&places, most) * window_ms : from / window_ms * window_ms,
                                 binding[most]};
    for (size_t i = 0; i < places.all; i++)
        if (use[i] > 0)
            use[used++] = use[i];
    qsort(use, used, sizeof(*use), order_doubles);
    out->p95 = series_rank(use, used, windows, 0.95);
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
    unsigned peak_window = 0;
    int err;

    for (unsigned w = 0; w + 1 < CAPACITY_WINDOWS; w++) /* up to a minute */
        if (entry->demand[metric][w].known) {
            longest = &entry->demand[metric][w];
            if (!peak || w <= CAPACITY_SECOND) {
                peak = longest;
                peak_window = w;
            }
        }
    if (!longest)
        return -ENODATA;
    *out = (struct need){
        .metric = metric,
        .sustained = longest->p95,
        .peak = peak->max,
        .peak_window_ms = capacity_window_ms[peak_window],
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
