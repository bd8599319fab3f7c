/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

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

/* The open window is over. */
static void close_window(struct windows *windows, unsigned w)
{
    for (unsigned m = 0; m < MEASURE_COUNT; m++) {
        struct moments *moments = &windows->moments[w][m];
        uint64_t x = windows->sums[w][m];

        if (!x)
            continue;
        moments->sum += x;
        moments->squares += (long double)x * x;
        moments->used++;
        if (x > moments->max)
            moments->max = x;
    }
    memset(windows->sums[w], 0, sizeof(windows->sums[w]));
}

static void push(struct windows *windows, int64_t slot, const struct demand_slot *amount)
{
    uint64_t values[MEASURE_COUNT], any = 0;

    for (unsigned m = 0; m < MEASURE_COUNT; m++)
        any |= values[m] = demand_sum(amount, measure_demands[m]);
    if (!any)
        return;
    cover(windows, slot, slot);
    if (windows->spreads)
        spreads_push(windows->spreads, slot, amount);
    for (unsigned w = 0; w < BURST_WINDOWS; w++) {
        int64_t number = floor_div(slot, burst_window_ms[w] / FLOW_SLOT_MS);

        if (number != windows->open[w])
            close_window(windows, w);
        windows->open[w] = number;
        for (unsigned m = 0; m < MEASURE_COUNT; m++)
            windows->sums[w][m] += values[m];
    }
}

/* Slots before that one do not grow any more. */
static void retire(struct windows *windows, int64_t before)
{
    struct flow *pending = &windows->pending;
    uint32_t count = 0;

    while (count < pending->length && pending->first + count < before) {
        push(windows, pending->first + count, &pending->slots[count]);
        count++;
    }
    if (!count)
        return;
    memmove(pending->slots, pending->slots + count, (pending->length - count) * sizeof(*pending->slots));
    pending->length -= count;
    pending->first += count;
}

int windows_add(struct windows *windows, int64_t start_ns, const struct flow *flow)
{
    retire(windows, floor_div(start_ns, SLOT_NS) - SLACK);
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

void windows_finish(struct windows *windows)
{
    retire(windows, INT64_MAX);
    for (unsigned w = 0; w < BURST_WINDOWS; w++)
        close_window(windows, w);
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
        if (windows->moments[0][m].sum < 0.99L * sum - 1)
            return false;
    }
    return series->length > 0;
}

void windows_burst(const struct windows *windows, const struct windows *span, enum measure measure,
                   struct burst *out)
{
    for (unsigned w = 0; w < BURST_WINDOWS; w++) {
        const struct moments *m = &windows->moments[w][measure];
        int64_t slots = burst_window_ms[w] / FLOW_SLOT_MS;
        int64_t count = floor_div(span->last, slots) - floor_div(span->from, slots) + 1;
        double mean, variance;

        out->peak_to_mean[w] = out->cv[w] = out->fano[w] = out->idle[w] = NAN;
        if (count < 2 || (uint64_t)count < m->used)
            continue;
        out->idle[w] = 1 - (double)m->used / (double)count;
        if (!m->used)
            continue;
        mean = (double)(m->sum / count);
        variance = (double)fmaxl(m->squares / count - m->sum / count * (m->sum / count), 0);
        out->peak_to_mean[w] = (double)m->max / mean;
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
