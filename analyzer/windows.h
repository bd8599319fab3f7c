/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How unevenly demand comes, from the flows' slots: windows of 100 ms, 1 s and 10 s, aligned to the wall clock, as
 * they go by. A slot takes part when no earlier one can come any more, so batches must come in the order of their
 * start, and memory is that of the longest interval, whatever the span. What comes late all the same makes a window of
 * its own. The same slot of several nodes is one window.
 *
 * A window counts when it lies within the span and all of it was watched: the span begins and ends in the midst of one,
 * which has less than its share.
 */
#ifndef UNBLEND_ANALYZER_WINDOWS_H
#define UNBLEND_ANALYZER_WINDOWS_H

#include <stdbool.h>

#include "analyzer/burst.h"
#include "analyzer/spread.h"
#include "analyzer/watched.h"
#include "lib/record.h"

enum measure {
    MEASURE_BYTES, /* read and written */
    MEASURE_READ_BYTES,
    MEASURE_WRITE_BYTES,
    MEASURE_DATA_OPS,
    MEASURE_METADATA_OPS,
    MEASURE_COUNT
};

/* The set of demands that a measure adds up. */
extern const unsigned measure_demands[MEASURE_COUNT];

/* Of windows that are over; empty ones do not change it. */
struct moments {
    long double sum, squares;
    uint64_t max, used; /* the largest, and how many were not empty */
};

/* A window by its number. */
struct edge {
    bool used;
    int64_t number;
    uint64_t sums[MEASURE_COUNT];
};

/* Zeroed is empty. */
struct windows {
    struct flow pending; /* slots that may still grow */
    int64_t open[BURST_WINDOWS];
    uint64_t sums[BURST_WINDOWS][MEASURE_COUNT]; /* of the open window */
    struct moments moments[BURST_WINDOWS][MEASURE_COUNT];
    struct edge head[BURST_WINDOWS], tail[BURST_WINDOWS]; /* the first and last with demand: a span may cut them */
    long double totals[MEASURE_COUNT];
    struct histogram burst[FLOW_KINDS], steady[FLOW_KINDS];
    struct spreads *spreads; /* NULL unless asked for */
    int64_t from, last; /* the first and last slot of intervals with I/O */
    int64_t cut[BURST_WINDOWS]; /* whole windows between them that were not watched all of the time; finished */
    bool used;
};

/* Keeps the spreads of what comes from now on, too. 0 or -ENOMEM. */
int windows_spread(struct windows *windows);

/* An interval with I/O belongs to the span. */
void windows_cover(struct windows *windows, int64_t start_ns, uint64_t duration_ns);

/* Adds a flow of a batch that starts at start_ns, which `watched` knows already. 0, -ENOMEM or -ERANGE. */
int windows_add(struct windows *windows, const struct watched *watched, int64_t start_ns, const struct flow *flow);

/* When all is added. */
void windows_finish(struct windows *windows, const struct watched *watched);

/* Whether the slots hold all demand of a series; not so where batches had no flows. Finished. */
bool windows_complete(const struct windows *windows, const struct series *series);

/* Fills in the figures of all windows, over the span of another; what cannot be said is NAN, of fewer than two windows
   say. Finished. */
void windows_burst(const struct windows *windows, const struct windows *span, enum measure measure,
                   struct burst *out);

void windows_clear(struct windows *windows);

#endif
