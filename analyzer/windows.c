/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/floor_div.h"

#define SLOT_NS (FLOW_SLOT_MS * 1000000LL)
/* Slots so far before a batch may still grow: its operations are counted a moment after they have ended, and nodes'
   clocks differ a little. */
#define SLACK 50

const unsigned measure_demands[MEASURE_COUNT] = {
    [MEASURE_BYTES] = DEMAND_BYTES,
    [MEASURE_READ_BYTES] = DEMAND_BIT(DEMAND_READ_BYTES),
    [MEASURE_WRITE_BYTES] = DEMAND_BIT(DEMAND_WRITE_BYTES),
    [MEASURE_DATA_OPS] = DEMAND_DATA_OPS,
    [MEASURE_METADATA_OPS] = DEMAND_BIT(DEMAND_METADATA_OPS),
};

static void cover(struct windows *windows, int64_t from, int64_t last)
{
    if (!windows->used || from < windows->from)
        windows->from = from;
    if (!windows->used || last > windows->last)
        windows->last = last;
    windows->used = true;
}

void windows_cover(struct windows *windows, int64_t start_ns, uint64_t duration_ns)
{
    int64_t end_ns = start_ns + (int64_t)(duration_ns ? duration_ns - 1 : 0);

    cover(windows, floor_div(start_ns, SLOT_NS), floor_div(end_ns, SLOT_NS));
}

int windows_spread(struct windows *windows)
{
    if (!windows->spreads)
        windows->spreads = calloc(1, sizeof(*windows->spreads));
    return windows->spreads ? 0 : -ENOMEM;
}

static void add_value(struct moments *moments, uint64_t x)
{
    if (!x)
        return;
    moments->sum += x;
    moments->squares += (long double)x * x;
    moments->used++;
    if (x > moments->max)
        moments->max = x;
}

static void keep_edge(const struct windows *windows, unsigned w, struct edge *edge)
{
    edge->used = true;
    edge->number = windows->open[w];
    memcpy(edge->sums, windows->sums[w], sizeof(edge->sums));
}

static bool is_used(const uint64_t sums[MEASURE_COUNT])
{
    for (unsigned m = 0; m < MEASURE_COUNT; m++)
        if (sums[m])
            return true;
    return false;
}

/* The open window is over. The first one is kept apart, and so is what was the last one all the time. */
static void close_window(struct windows *windows, const struct watched *watched, unsigned w, bool last)
{
    int64_t slots = burst_window_ms[w] / FLOW_SLOT_MS, from = windows->open[w] * slots;

    if (!is_used(windows->sums[w]))
        return;
    if (watched_has_hole(watched, from, from + slots - 1))
        ; /* nobody knows all of it */
    else if (!windows->head[w].used)
        keep_edge(windows, w, &windows->head[w]);
    else if (last)
        keep_edge(windows, w, &windows->tail[w]);
    else
        for (unsigned m = 0; m < MEASURE_COUNT; m++)
            add_value(&windows->moments[w][m], windows->sums[w][m]);
    memset(windows->sums[w], 0, sizeof(windows->sums[w]));
}

static void push(struct windows *windows, const struct watched *watched, int64_t slot, const struct demand_slot *amount)
{
    uint64_t values[MEASURE_COUNT], any = 0;

    for (unsigned m = 0; m < MEASURE_COUNT; m++)
        any |= values[m] = demand_sum(amount, measure_demands[m]);
    if (!any)
        return;
    cover(windows, slot, slot);
    for (unsigned m = 0; m < MEASURE_COUNT; m++)
        windows->totals[m] += values[m];
    if (windows->spreads)
        spreads_push(windows->spreads, slot, amount);
    for (unsigned w = 0; w < BURST_WINDOWS; w++) {
        int64_t number = floor_div(slot, burst_window_ms[w] / FLOW_SLOT_MS);

        if (number != windows->open[w])
            close_window(windows, watched, w, false);
        windows->open[w] = number;
        for (unsigned m = 0; m < MEASURE_COUNT; m++)
            windows->sums[w][m] += values[m];
    }
}

/* Slots before that one do not grow any more. */
static void retire(struct windows *windows, const struct watched *watched, int64_t before)
{
    struct flow *pending = &windows->pending;
    uint32_t count = 0;

    while (count < pending->length && pending->first + count < before) {
        push(windows, watched, pending->first + count, &pending->slots[count]);
        count++;
    }
    if (!count)
        return;
    memmove(pending->slots, pending->slots + count, (pending->length - count) * sizeof(*pending->slots));
    pending->length -= count;
    pending->first += count;
}

int windows_add(struct windows *windows, const struct watched *watched, int64_t start_ns, const struct flow *flow)
{
    retire(windows, watched, floor_div(start_ns, SLOT_NS) - SLACK);
    for (unsigned kind = 0; kind < FLOW_KINDS; kind++) {
        int err = histogram_merge(&windows->burst[kind], &flow->burst[kind]);

        if (!err)
            err = histogram_merge(&windows->steady[kind], &flow->steady[kind]);
        if (err)
            return err;
    }
    for (uint32_t i = 0; i < flow->length; i++) {
        int err = demand_sum(&flow->slots[i], UINT32_MAX)
                      ? flow_add(&windows->pending, flow->first + i, &flow->slots[i])
                      : 0;

        if (err)
            return err;
    }
    return 0;
}

/* The windows that lie within what the others cover, and how many they are. */
static int64_t whole(const struct windows *span, unsigned w, int64_t *first, int64_t *end)
{
    int64_t slots = burst_window_ms[w] / FLOW_SLOT_MS;

    *first = floor_div(span->from + slots - 1, slots);
    *end = floor_div(span->last + 1, slots) - 1;
    return *end - *first + 1;
}

void windows_finish(struct windows *windows, const struct watched *watched)
{
    int64_t first, end;

    retire(windows, watched, INT64_MAX);
    for (unsigned w = 0; w < BURST_WINDOWS; w++)
        close_window(windows, watched, w, true);
    for (unsigned w = 0; w < BURST_WINDOWS; w++)
        windows->cut[w] = whole(windows, w, &first, &end) > 0
                              ? watched_cut(watched, burst_window_ms[w] / FLOW_SLOT_MS, first, end)
                              : 0;
    if (windows->spreads)
        spreads_finish(windows->spreads);
    flow_clear(&windows->pending);
}

bool windows_complete(const struct windows *windows, const struct series *series)
{
    for (unsigned m = 0; m < MEASURE_COUNT; m++) {
        long double sum = 0;

        for (uint32_t i = 0; i < series->length; i++)
            sum += demand_sum(&series->slots[i], measure_demands[m]);
        /* Where a span was cut out, an operation's slot and its count may be on different sides of the cut. */
        if (windows->totals[m] < 0.99L * sum - 1)
            return false;
    }
    return series->length > 0;
}

static void add_edge(const struct edge *edge, enum measure measure, int64_t first, int64_t end, struct moments *moments)
{
    if (edge->used && edge->number >= first && edge->number <= end)
        add_value(moments, edge->sums[measure]);
}

void windows_burst(const struct windows *windows, const struct windows *span, enum measure measure,
                   struct burst *out)
{
    for (unsigned w = 0; w < BURST_WINDOWS; w++) {
        struct moments m = windows->moments[w][measure];
        int64_t first, end, count = whole(span, w, &first, &end) - span->cut[w];
        double mean, variance;

        out->peak_to_mean[w] = out->cv[w] = out->fano[w] = out->idle[w] = NAN;
        add_edge(&windows->head[w], measure, first, end, &m);
        add_edge(&windows->tail[w], measure, first, end, &m);
        if (count < 2 || (uint64_t)count < m.used)
            continue;
        out->idle[w] = 1 - (double)m.used / (double)count;
        if (!m.used)
            continue;
        mean = (double)(m.sum / count);
        variance = (double)fmaxl(m.squares / count - m.sum / count * (m.sum / count), 0);
        out->peak_to_mean[w] = (double)m.max / mean;
        out->cv[w] = sqrt(variance) / mean;
        out->fano[w] = variance / mean;
    }
}

void windows_clear(struct windows *windows)
{
    flow_clear(&windows->pending);
    spreads_free(windows->spreads);
    for (unsigned kind = 0; kind < FLOW_KINDS; kind++) {
        histogram_clear(&windows->burst[kind]);
        histogram_clear(&windows->steady[kind]);
    }
    *windows = (struct windows){0};
}
