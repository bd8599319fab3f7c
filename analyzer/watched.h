/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When anybody watched, in slots of lib/flow.h: stretches with holes between them, as recordings leave them that are
 * not of one time. What happened in a hole nobody knows, so it is no idle time.
 */
#ifndef UNBLEND_ANALYZER_WATCHED_H
#define UNBLEND_ANALYZER_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

#define WATCHED_MAX 4096 /* stretches; holes behind so many are not known */

struct stretch {
    int64_t from, last; /* the first and last slot */
};

/* Zeroed is empty: all of the time was watched. */
struct watched {
    struct stretch *list; /* in their order, with a hole between any two */
    uint32_t count, capacity;
};

/* Slots from..last were watched; in the order of their beginning, or a hole that ought to be there is not. 0 or
   -ENOMEM. */
int watched_add(struct watched *watched, int64_t from, int64_t last);

/* Whether a hole lies in slots from..last, or a part of one. */
bool watched_has_hole(const struct watched *watched, int64_t from, int64_t last);

/* Of windows first..end, each of so many slots and aligned to them, how many a hole lies in. */
int64_t watched_cut(const struct watched *watched, int64_t slots, int64_t first, int64_t end);

/* Of the time between two moments, in seconds, how long was watched. */
double watched_s(const struct watched *watched, double from_s, double end_s);

void watched_clear(struct watched *watched);

#endif
