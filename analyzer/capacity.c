/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

const struct metric metrics[METRIC_COUNT] = {
    {"read_bytes_s", DEMAND_READ_BYTES},     {"write_bytes_s", DEMAND_WRITE_BYTES},
    {"read_iops", DEMAND_READ_OPS},          {"write_iops", DEMAND_WRITE_OPS},
    {"metadata_ops_s", DEMAND_METADATA_OPS},
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double rank(const double *sorted, size_t count, double q)
{
    size_t place = (size_t)ceil(q * (double)count);

    return sorted[place ? place - 1 : 0];
}

int capacity_of(const struct series *series, enum demand demand, uint32_t window_ms, int64_t from,
                int64_t last, struct capacity_demand *out)
{
    _cleanup_free_ double *x = NULL, *sorted = NULL;
    double seconds = window_ms / 1e3, sum = 0;
    size_t count, run = 0, longest = 0;
    int err = series_windows(series, DEMAND_BIT(demand), window_ms, from, last, &x, &count);

    if (err)
        return err;
    sorted = malloc(count * sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        x[i] /= seconds;
        sum += x[i];
    }
    memcpy(sorted, x, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_value);
    *out = (struct capacity_demand){
        .mean = sum / (double)count,
        .p50 = rank(sorted, count, 0.5),
        .p95 = rank(sorted, count, 0.95),
        .p99 = rank(sorted, count, 0.99),
        .max = sorted[count - 1],
    };
    for (size_t i = 0; i < count; i++) {
        run = x[i] > out->p95 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    out->longest_above_p95_s = (double)longest * seconds;
    return 0;
}
