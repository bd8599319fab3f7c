/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How unevenly demand comes. With x the sums over the windows (aligned to the wall clock, empty
 * ones included) from the first interval with I/O to the last:
 *
 *   peak_to_mean  max x / mean x
 *   cv            standard deviation / mean
 *   fano          variance / mean, in the unit of x (Fano 1947; the index of dispersion: 1 for operations that arrive as a
 *                 Poisson process)
 *   idle          share of windows with x = 0
 *   period_s      the shortest lag that divides that of the highest peak of the autocorrelation and correlates nearly as
 *                 much, if that peak stands above what any of the lags would reach by chance (see burst.c)
 *
 * The variance is that of the population. What cannot be said is NAN: windows shorter than the
 * recorded intervals, fewer than two windows, no demand at all.
 */
#ifndef UNBLEND_ANALYZER_BURST_H
#define UNBLEND_ANALYZER_BURST_H

#include "analyzer/series.h"

#define BURST_WINDOWS 3

extern const uint32_t burst_window_ms[BURST_WINDOWS]; /* 100, 1000, 10000 */

struct burst {
    double peak_to_mean[BURST_WINDOWS];
    double cv[BURST_WINDOWS];
    double fano[BURST_WINDOWS];
    double idle[BURST_WINDOWS];
    double period_s;
};

/* Over from..last (ms since 1970, as series_windows()). 0 or -ENOMEM. */
int burst_of(const struct series *series, unsigned demands, int64_t from, int64_t last,
             struct burst *out);

/* Over the span of another series, of windows that lie within it; of fewer than two NAN. 0 or -ENOMEM. */
int burst_within(const struct series *series, unsigned demands, const struct series *span, struct burst *out);

/* The period of evenly spaced values, in steps; NAN when none is significant. Exposed for tests. */
double burst_period(const double *values, size_t count);

/* The same, also where each burst may come some steps sooner or later than the period says: where steps say nothing, or a
   multiple of it only, sums of two, of four ... of them do. The values are lost. */
double burst_period_coarse(double *values, size_t count);

#endif
