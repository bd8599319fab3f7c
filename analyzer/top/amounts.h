/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What somebody, or something, did in one sample: counts that add up, and how sizes and times are spread. The figures
 * behind every row of `unblend top`. Bytes, operations and nanoseconds, never divided by time here.
 */
#ifndef UNBLEND_ANALYZER_TOP_AMOUNTS_H
#define UNBLEND_ANALYZER_TOP_AMOUNTS_H

#include "lib/record.h"

enum count {
    COUNT_OPS,
    COUNT_READ_OPS,
    COUNT_WRITE_OPS,
    COUNT_METADATA_OPS,
    COUNT_OPEN_OPS, /* with those that make the file */
    COUNT_STAT_OPS,
    COUNT_SEEK_OPS,
    COUNT_SYNC_OPS, /* of a device: flushes */
    COUNT_FAULT_OPS,
    COUNT_MINOR_FAULTS, /* no operations */
    COUNT_DISCARD_OPS,
    COUNT_ERRORS,
    COUNT_READ_BYTES,
    COUNT_WRITE_BYTES,
    COUNT_FAULT_BYTES,
    COUNT_CACHE_HITS, /* reads */
    COUNT_CACHE_MISSES,
    COUNT_CACHED_BYTES,
    COUNT_DEVICE_BYTES,
    COUNT_SEQUENTIAL, /* transfers that start at or beyond the end of the one before */
    COUNT_RANDOM,
    COUNT_TRANSFERS, /* that moved something */
    COUNT_BUSY_NS,   /* operations' time, added up */
    COUNT_KINDS
};

/* Nearest-rank quantiles as in lib/histogram.h; NO_VALUE when there was nothing to rank. */
#define NO_VALUE UINT64_MAX

struct spread {
    uint64_t p50, p95, p99, max;
};

struct amounts {
    uint64_t count[COUNT_KINDS];
    uint64_t in_flight, oldest_ns; /* at the sample's end */
    struct spread size, latency_ns; /* of transfers that moved something; of all operations */
};

#define NO_SPREAD  {NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE}
#define NO_AMOUNTS {.size = NO_SPREAD, .latency_ns = NO_SPREAD}

/* Adds a record's counts, not its spreads. */
void amounts_add(struct amounts *amounts, const struct record *record);
/* Adds up what adds up; what is in flight and the spreads are the later's. */
void amounts_merge(struct amounts *to, const struct amounts *later);

/* Many sparse histograms added up in a fixed array, faster than in a sparse one. Zeroed is empty. */
struct dense {
    uint64_t count[BUCKET_COUNT];
    uint16_t first, end; /* cells in use lie in [first, end) */
};

void dense_add(struct dense *dense, const struct histogram *h);
/* Adds what it holds to a histogram. 0, -ENOMEM or -ERANGE. */
int dense_give(const struct dense *dense, struct histogram *to);
void dense_spread(const struct dense *dense, bool skip_zeros, struct spread *out);
void dense_clear(struct dense *dense);

void histogram_spread(const struct histogram *h, bool skip_zeros, struct spread *out);

#endif
