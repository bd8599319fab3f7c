/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/burst.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/floor_div.h"

const uint32_t burst_window_ms[BURST_WINDOWS] = {100, 1000, 10000};

#define PERIOD_VALUES_MIN 20 /* by fewer a correlation of 1 is chance, too */
#define PERIOD_VALUES_MAX 4096 /* more are added up in pairs: the lags are compared in O(n^2) */
#define PERIOD_CYCLES_MIN 3
#define PERIOD_STRENGTH   0.3   /* a weaker rhythm is of no use to anybody, however significant */
#define NEARLY            0.9   /* of the correlation at the highest peak: a lag that divides it may be the period, */
#define NEARLY_ABOUT      0.6   /* or so much of what correlates about it, */
#define UNSTEADY          0.06  /* so much of the lag sooner or later */
#define PERIOD_ALPHA      0.001 /* chance of a false period in noise, over all lags */

/* Of all values that are so far apart. */
static double products(const double *x, size_t count, size_t lag)
{
    double sum = 0;

    for (size_t i = 0; i + lag < count; i++)
        sum += x[i] * x[i + lag];
    return sum;
}

static double autocorrelation(const double *x, size_t count, double variance, size_t lag)
{
    return products(x, count, lag) / variance / (double)(count - lag);
}

/* What correlates at about that lag: bursts may come a little sooner or later than the period says. */
static double about(const double *r, double lag, double within)
{
    double sum = 0;

    for (size_t i = (size_t)ceil(lag - within); i <= (size_t)(lag + within); i++)
        sum += r[i];
    return sum;
}

/* Multiples of the period correlate as well: the shortest lag behind `from` that does nearly so. */
static double shortest(const double *r, size_t from, size_t best)
{
    for (size_t lag = 2; lag < best; lag++)
        if (r[lag] >= NEARLY * r[best] && r[lag] >= r[lag - 1] && r[lag] >= r[lag + 1])
            return (double)lag;
    for (size_t times = best / 2; times >= 2; times--) {
        double lag = (double)best / (double)times, within = fmax(1, lag * UNSTEADY);

        if (lag - within >= (double)from && about(r, lag, within) >= NEARLY_ABOUT * about(r, (double)best, within))
            return lag;
    }
    return (double)best;
}

/*
 * Autocorrelation of noise is about normal with variance 1/(n - lag) (Bartlett 1946); testing m
 * lags at once asks for sqrt(2 ln(m / alpha)) standard deviations (a union bound on Gaussian
 * tails). A period must repeat three times, and lie behind the first fall below zero, or any slow
 * drift would pass for one.
 */
double burst_period(const double *values, size_t count)
{
    const size_t lags = count / PERIOD_CYCLES_MIN, last = lags + lags / 8 + 2; /* with what is about the highest lag */
    size_t lag = 1, best = 0, from;
    _cleanup_free_ double *x = NULL, *r = NULL;
    double mean = 0, variance = 0, threshold;

    if (count < PERIOD_VALUES_MIN || !(x = calloc(count, sizeof(*x))) ||
        !(r = calloc(last + 1, sizeof(*r))))
        return NAN;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        x[i] = values[i] - mean;
        variance += x[i] * x[i] / (double)count;
    }
    if (!(variance > 0))
        return NAN;
    for (size_t i = 1; i <= last; i++)
        r[i] = autocorrelation(x, count, variance, i);
    while (lag <= lags && r[lag] >= 0)
        lag++;
    from = lag;
    for (; lag <= lags; lag++)
        if ((!best || r[lag] > r[best]) && r[lag] >= r[lag - 1] && r[lag] >= r[lag + 1])
            best = lag;
    if (!best)
        return NAN;
    threshold = sqrt(2 * log((double)lags / PERIOD_ALPHA) / (double)(count - best));
    if (r[best] < fmax(threshold, PERIOD_STRENGTH))
        return NAN;
    return shortest(r, from, best);
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
static double *values_of(const struct series_part *part, int64_t first, size_t *count, unsigned *halved)
{
    double *x = calloc(PERIOD_VALUES_MAX, sizeof(*x));
    uint64_t windows = part->windows;

    for (*halved = 0; windows > PERIOD_VALUES_MAX; windows /= 2)
        (*halved)++;
    for (size_t i = 0; x && i < part->count; i++) {
        uint64_t at = (uint64_t)(part->first + (int64_t)i - first) >> *halved;

        if (at < windows)
            x[at] += part->sums[i];
    }
    *count = windows;
    return x;
}

/* Where the middle of what a coarser look saw as a period lies, in finer steps: of the products of values so far apart. */
static double middle_of(const double *x, size_t count, double period, double within)
{
    double sum = 0, weighed = 0;

    for (size_t lag = (size_t)fmax(1, ceil(period - within)); lag <= (size_t)(period + within); lag++) {
        double here = products(x, count, lag);

        sum += here;
        weighed += here * (double)lag;
    }
    return sum > 0 ? weighed / sum : period;
}

double burst_period_coarse(double *x, size_t count)
{
    _cleanup_free_ double *fine = calloc(count, sizeof(*fine));
    const size_t all = count;
    double period = NAN;

    if (!fine)
        return NAN;
    memcpy(fine, x, count * sizeof(*fine));
    for (double step = 1; count >= PERIOD_VALUES_MIN; step *= 2, count /= 2) {
        double found = burst_period(x, count) * step;
        double times = round(period / found);

        if (isnan(period) && !isnan(found))
            period = step > 1 ? middle_of(fine, all, found, step) : found;
        else if (times >= 2 && fabs(period / times - found) <= step / 2)
            period /= times;
        for (size_t i = 0; i < count / 2; i++)
            x[i] = x[2 * i] + x[2 * i + 1];
    }
    return period;
}

static double period_of(const struct series_part *part, int64_t first, double step_s)
{
    size_t count;
    unsigned halved;
    _cleanup_free_ double *x = values_of(part, first, &count, &halved);

    return x ? burst_period_coarse(x, count) * step_s * (double)(UINT64_C(1) << halved) : NAN;
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
