/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When somebody was inside operations, without its course: where the middle of that time is, and how far it is spread. So
 * a call before the work and one behind it do not make it last longer.
 */
#ifndef UNBLEND_ANALYZER_PRESENCE_H
#define UNBLEND_ANALYZER_PRESENCE_H

#include <stdint.h>

/* A zeroed struct is nobody's. */
struct presence {
    double time;   /* ns inside operations */
    double middle; /* of it: ns since 1970 */
    double spread; /* the sum of squared distances from there, weighed by time: ns^3 */
};

/* Adds what an interval has of it, as if it were all in its middle. */
void presence_add(struct presence *presence, int64_t start_ns, uint64_t duration_ns, uint64_t time_ns);

/*
 * The first and the last of intervals of that length (ns, above 0), in a row and with the same time in each, which would
 * have the same middle and spread: their middles, since 1970 (n of them have a variance of (n^2 - 1) / 12, in intervals
 * squared). Both are 0 for nobody.
 */
void presence_span(const struct presence *presence, int64_t interval_ns, int64_t *first_ns, int64_t *last_ns);

#endif
