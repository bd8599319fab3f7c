/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the demand of windows of one length is spread, told as they go by, whatever the span: quantiles, and the longest
 * run of windows above one. Exact for as many windows with demand as SPREAD_EXACT; beyond, values are known by bucket
 * (12.5 %), and a run is above a bucket. Windows in between have no demand.
 */
#ifndef UNBLEND_ANALYZER_SPREAD_H
#define UNBLEND_ANALYZER_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/demand.h"
#include "lib/histogram.h"

#define SPREAD_EXACT 16384

struct spread_value {
    int64_t window;
    uint64_t value;
};

/* Buckets from `bucket` up to the next step's have not been at or below for all windows since `last`. */
struct spread_step {
    unsigned bucket;
    int64_t last;
};

/* Zeroed is empty. */
struct spread_demand {
    long double sum;
    uint64_t max, used; /* windows with demand */
    int64_t first, last;
    struct spread_value *exact; /* until there are too many */
    uint32_t exact_count, exact_capacity;
    bool rough;
    struct histogram values;
    struct spread_step *steps;
    uint32_t step_count;
    uint32_t *longest; /* by bucket, of runs above it; see spread.c */
};

/* Adds a window's demand; windows come in rising order, those that do not are left out of runs. 0, -ENOMEM, -ERANGE. */
int spread_add(struct spread_demand *spread, int64_t window, uint64_t value);

/* Over windows from..last, which hold all that were added. */
uint64_t spread_quantile(const struct spread_demand *spread, double q, int64_t from, int64_t last);
/* How many windows in a row are above a value, at most; whether that can be told, where the largest are in its bucket. */
bool spread_tells(const struct spread_demand *spread, uint64_t value);
uint64_t spread_longest_above(const struct spread_demand *spread, uint64_t value);

void spread_clear(struct spread_demand *spread);

/* All demands at once, in windows of 100 ms and of 1 s, from slots of 100 ms that come in rising order. */
#define SPREAD_WINDOWS 2
extern const uint32_t spread_window_ms[SPREAD_WINDOWS];

struct spreads {
    int64_t open[SPREAD_WINDOWS];
    uint64_t sums[SPREAD_WINDOWS][DEMAND_COUNT]; /* of the open window */
    struct spread_demand of[SPREAD_WINDOWS][DEMAND_COUNT];
    int err; /* the first one; what is there is of no use then */
};

void spreads_push(struct spreads *spreads, int64_t slot, const struct demand_slot *amount);
/* When all is pushed. */
void spreads_finish(struct spreads *spreads);
void spreads_free(struct spreads *spreads); /* NULL is fine */

#endif
