/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demand over time: what was asked for in each interval, in slots aligned to the wall clock. Slots
 * of intervals in which nothing happened are zero. Memory is bounded: a series that gets too long,
 * or is fed with longer intervals, makes its slots longer and keeps the sums.
 */
#ifndef UNBLEND_ANALYZER_SERIES_H
#define UNBLEND_ANALYZER_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/demand.h"

#define SERIES_SLOTS_MAX (1u << 17)

/* Zeroed is empty. */
struct series {
    uint32_t slot_ms;
    int64_t first; /* the first slot's start is first * slot_ms after 1970 */
    uint32_t length;
    uint32_t capacity;
    struct demand_slot *slots;
};

/* The slot of an interval: its middle decides, so that a clock tick early or late changes nothing.
 */
int64_t series_slot_of(int64_t start_ns, uint64_t duration_ns, uint32_t slot_ms);

/* Adds an interval's demand. 0, -EINVAL for an interval of no length, -ENOMEM. */
int series_add(struct series *series, int64_t start_ns, uint64_t duration_ns, uint32_t interval_ms,
               const struct demand_slot *amount);

/*
 * Sums over windows that are aligned to the wall clock, from the one that holds `from` up to and
 * including the one that holds `last` (both in ms since 1970); `demands` is a set that is added up.
 * *sums is malloc'ed. 0, -ENOMEM, -ENODATA when the slots are no exact parts of such a window.
 */
int series_windows(const struct series *series, unsigned demands, uint32_t window_ms, int64_t from,
                   int64_t last, double **sums, size_t *count);

/* Such windows as far as a series reaches, however long the span is: those of the span that are not in it are empty. */
struct series_part {
    double *sums;    /* malloc'ed */
    size_t count;
    int64_t first;   /* number of the first one, in windows since 1970 */
    uint64_t windows; /* of the whole span */
};

/* As series_windows(). */
int series_part(const struct series *series, unsigned demands, uint32_t window_ms, int64_t from, int64_t last,
                struct series_part *out);

/* Nearest rank of windows that are not negative, of which all but so many, sorted, are 0. */
double series_rank(const double *sorted, size_t count, uint64_t windows, double q);

/* Adds all of another series, each demand as often as weight says. 0, -ENOMEM, -EINVAL. */
int series_merge(struct series *series, const struct series *other, const double weight[DEMAND_COUNT]);

/* Start of the first and of the last slot, ms since 1970. The series must not be empty. */
/* Share of the bytes read that are read in seconds in which next to nothing is written; 0 where slots are longer than 2 s, or
 * fewer than four seconds are known. */
double series_reads_apart(const struct series *series);

int64_t series_from(const struct series *series);
int64_t series_last(const struct series *series);

void series_clear(struct series *series);

#endif
