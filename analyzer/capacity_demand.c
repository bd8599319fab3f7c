/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The demand of one metric over windows: its mean, its quantiles, and how long it stays high. */
#include "analyzer/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/floor_div.h"
#include "lib/order.h"

#define LOOSE_MS 1000 /* windows up to here count at the span's ends, too */

static int describe(const struct series_part *part, uint32_t window_ms, int64_t from, struct capacity_demand *out)
{
    const double *x = part->sums;
    _cleanup_free_ double *sorted = malloc((part->count + 1) * sizeof(*sorted));
    size_t run = 0, longest = 0, most = 0;
    double sum = 0;

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < part->count; i++) {
        sum += x[i];
        most = x[i] > x[most] ? i : most;
    }
    memcpy(sorted, x, part->count * sizeof(*sorted));
    qsort(sorted, part->count, sizeof(*sorted), order_doubles);
    *out = (struct capacity_demand){
        .known = true,
        .mean = sum / (double)part->windows,
        .p50 = series_rank(sorted, part->count, part->windows, 0.5),
        .p95 = series_rank(sorted, part->count, part->windows, 0.95),
        .p99 = series_rank(sorted, part->count, part->windows, 0.99),
        .max = series_rank(sorted, part->count, part->windows, 1),
    };
    out->max_ms = (out->max > 0 ? part->first + (int64_t)most : floor_div(from, window_ms)) * window_ms;
    for (size_t i = 0; i < part->count; i++) {
        run = x[i] > out->p95 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    out->longest_above_p95_s = (double)longest * window_ms / 1e3;
    return 0;
}

/* From slots of 100 ms, where the recorded intervals are too long. */
static int from_slots(const struct load *load, enum metric_id metric, uint32_t window_ms, int64_t from, int64_t last,
                      struct capacity_demand *out)
{
    const struct spread_demand *s = NULL;
    double each = 1e3 / window_ms;
    int64_t first, end;
    uint64_t p95;

    if (metric == METRIC_IN_FLIGHT || !load->windows || !load->windows->spreads ||
        !windows_complete(load->windows, load->series))
        return -ENODATA;
    if (load->windows->spreads->err)
        return load->windows->spreads->err;
    for (unsigned w = 0; w < SPREAD_WINDOWS; w++)
        if (spread_window_ms[w] == window_ms)
            s = &load->windows->spreads->of[w][metrics[metric].demand];
    if (!s)
        return -ENODATA;
    first = floor_div(from, window_ms);
    end = floor_div(last, window_ms);
    if (s->used && s->first < first)
        first = s->first;
    if (s->used && s->last > end)
        end = s->last;
    *out = (struct capacity_demand){
        .known = true,
        .mean = (double)(s->sum / (double)(end - first + 1)) * each,
        .p50 = (double)spread_quantile(s, 0.5, first, end) * each,
        .p95 = (double)spread_quantile(s, 0.95, first, end) * each,
        .p99 = (double)spread_quantile(s, 0.99, first, end) * each,
        .max = (double)s->max * each,
    };
    p95 = spread_quantile(s, 0.95, first, end);
    out->longest_above_p95_s = spread_tells(s, p95) ? (double)spread_longest_above(s, p95) * window_ms / 1e3 : NAN;
    return 0;
}

int capacity_of(const struct load *load, enum metric_id metric, uint32_t window_ms, int64_t from, int64_t last,
                struct capacity_demand *out)
{
    bool flight = metric == METRIC_IN_FLIGHT;
    const struct series *series = flight ? load->busy : load->series;
    unsigned demands = flight ? BUSY_TIMES : DEMAND_BIT(metrics[metric].demand);
    double unit = window_ms / 1e3 * (flight ? 1e9 : 1);
    struct series_part part;
    int err = series_part(series, demands, window_ms, from, last, &part);

    if (err == -ENODATA)
        return from_slots(load, metric, window_ms, from, last, out);
    if (err)
        return err;
    for (size_t i = 0; i < part.count; i++)
        part.sums[i] /= unit;
    err = describe(&part, window_ms, from, out);
    free(part.sums);
    return err;
}

bool capacity_span(const struct series *span, uint32_t window_ms, int64_t *from, int64_t *last)
{
    int64_t start = series_from(span), end = series_last(span) + span->slot_ms;

    if (window_ms <= LOOSE_MS) {
        *from = start;
        *last = end - 1;
        return true;
    }
    *from = floor_div(start + window_ms - 1, window_ms) * window_ms;
    *last = floor_div(end, window_ms) * window_ms - 1;
    return *from < *last;
}
