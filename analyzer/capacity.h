/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is demanded of a volume, a second, over windows aligned to the wall clock. */
#ifndef UNBLEND_ANALYZER_CAPACITY_H
#define UNBLEND_ANALYZER_CAPACITY_H

#include "analyzer/series.h"

struct metric {
    const char *name; /* as in reports: "read_bytes_s" */
    enum demand demand;
};

#define METRIC_COUNT 5
extern const struct metric metrics[METRIC_COUNT];

/* Rates a second; quantiles are nearest-rank over the windows of the span, empty ones included. */
struct capacity_demand {
    double mean, p50, p95, p99, max;
    double longest_above_p95_s; /* the longest run of windows above p95 */
};

/* Over from..last (as series_windows()). 0, -ENOMEM, -ENODATA when there are no such windows. */
int capacity_of(const struct series *series, enum demand demand, uint32_t window_ms, int64_t from,
                int64_t last, struct capacity_demand *out);

#endif
