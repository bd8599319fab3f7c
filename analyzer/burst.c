/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/burst.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/floor_div.h"

const uint32_t burst_window_ms[BURST_WINDOWS] = {100, 1000, 10000};

#define PERIOD_VALUES_MIN 32
#define PERIOD_VALUES_MAX 4096 /* more are added up in pairs: the lags are compared in O(n^2) */
#define PERIOD_CYCLES_MIN 3
#define PERIOD_STRENGTH   0.3   /* a weaker rhythm is of no use to anybody, however significant */
#define PERIOD_ALPHA      0.001 /* chance of a false period in noise, over all lags */

static double autocorrelation(const double *x, size_t count, double variance, size_t lag)
{
    double sum = 0;

    for (size_t i = 0; i + lag < count; i++)
        sum += x[i] * x[i + lag];
    return sum / variance / (double)(count - lag);
}

/*
 * Autocorrelation of noise is about normal with variance 1/(n - lag) (Bartlett 1946); testing m
 * lags at once asks for sqrt(2 ln(m / alpha)) standard deviations (a union bound on Gaussian
 * tails). A period must repeat three times, and lie behind the first fall below zero, or any slow
 * drift would pass for one.
 */
double burst_period(const double *values, size_t count)
{
    size_t lags = count / PERIOD_CYCLES_MIN, lag = 1, best = 0;
    _cleanup_free_ double *x = NULL, *r = NULL;
    double mean = 0, variance = 0, threshold;

    if (count < PERIOD_VALUES_MIN || !(x = calloc(count, sizeof(*x))) ||
        !(r = calloc(lags + 2, sizeof(*r))))
        return NAN;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        x[i] = values[i] - mean;
        variance += x[i] * x[i] / (double)count;
    }
    if (!(variance > 0))
        return NAN;
    for (size_t i = 1; i <= lags + 1; i++)
        r[i] = autocorrelation(x, count, variance, i);
    while (lag <= lags && r[lag] >= 0)
        lag++;
    for (; lag <= lags; lag++)
        if ((!best || r[lag] > r[best]) && r[lag] >= r[lag - 1] && r[lag] >= r[lag + 1])
            best = lag;
    if (!best)
        return NAN;
    threshold = sqrt(2 * log((double)lags / PERIOD_ALPHA) / (double)(count - best));
    if (r[best] < fmax(threshold, PERIOD_STRENGTH))
        return NAN;
    /* multiples of the period correlate as well: take the shortest that does nearly so */
    for (lag = 2; lag < best; lag++)
        if (r[lag] >= 0.9 * r[best] && r[lag] >= r[lag - 1] && r[lag] >= r[lag + 1])
            return (double)lag;
    return (double)best;
}

static void statistics(const struct series_part *part, struct burst *out, unsigned w)
{
    const double count = (double)part->windows;
    double sum = 0, squares, max = 0, mean;
    size_t used = 0;

    if (part->windows < 2)
        return;
    for (size_t i = 0; i < part->count; i++) {
        sum += part->sums[i];
        max = fmax(max, part->sums[i]);
        used += part->sums[i] != 0;
    }
    out->idle[w] = 1 - (double)used / count;
    if (sum == 0)
        return;
    mean = sum / count;
    squares = mean * mean * (double)(part->windows - part->count);
    for (size_t i = 0; i < part->count; i++)
        squares += (part->sums[i] - mean) * (part->sums[i] - mean);
    out->peak_to_mean[w] = max / mean;
    out->cv[w] = sqrt(squares / count) / mean;
    out->fano[w] = squares / count / mean;
}

/* The windows of a span, so many of them added up that they are few enough; which are left over at the end is lost. */
static double period_of(const struct series_part *part, int64_t first, double step_s)
{
    _cleanup_free_ double *x = calloc(PERIOD_VALUES_MAX, sizeof(*x));
    uint64_t count = part->windows;
    unsigned halved = 0;

    for (; count > PERIOD_VALUES_MAX; count /= 2)
        halved++;
    for (size_t i = 0; x && i < part->count; i++) {
        uint64_t at = (uint64_t)(part->first + (int64_t)i - first) >> halved;

        if (at < count)
            x[at] += part->sums[i];
    }
    return x ? burst_period(x, count) * step_s * (double)(UINT64_C(1) << halved) : NAN;
}

/* Of the windows of that length that hold from..last. 0 or -ENOMEM. */
static int figures(const struct series *series, unsigned demands, unsigned w, int64_t from, int64_t last,
                   struct burst *out)
{
    struct series_part part;
    int err;

    out->peak_to_mean[w] = out->cv[w] = out->fano[w] = out->idle[w] = NAN;
    err = last < from ? -ENODATA : series_part(series, demands, burst_window_ms[w], from, last, &part);
    if (err)
        return err == -ENODATA ? 0 : err;
    statistics(&part, out, w);
    free(part.sums);
    return 0;
}

static int find_period(const struct series *series, unsigned demands, int64_t from, int64_t last, struct burst *out)
{
    struct series_part part;
    int err;

    if (!series->length)
        return 0;
    err = series_part(series, demands, series->slot_ms, from, last, &part);
    if (err)
        return err;
    out->period_s = period_of(&part, floor_div(from, series->slot_ms), series->slot_ms / 1e3);
    free(part.sums);
    return 0;
}

int burst_of(const struct series *series, unsigned demands, int64_t from, int64_t last,
             struct burst *out)
{
    int err = 0;

    *out = (struct burst){.period_s = NAN};
    for (unsigned w = 0; !err && w < BURST_WINDOWS; w++)
        err = figures(series, demands, w, from, last, out);
    return err ? err : find_period(series, demands, from, last, out);
}

int burst_within(const struct series *series, unsigned demands, const struct series *span, struct burst *out)
{
    int64_t from = span->length ? series_from(span) : 0, last = span->length ? series_last(span) : 0;
    int err = 0;

    *out = (struct burst){.period_s = NAN};
    for (unsigned w = 0; !err && w < BURST_WINDOWS; w++) {
        int64_t length = burst_window_ms[w];

        err = figures(series, demands, w, (from + length - 1) / length * length,
                      (last + span->slot_ms) / length * length - 1, out);
    }
    return err ? err : find_period(series, demands, from, last, out);
}
