/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the reads and the writes of a size come at the same times, as a copy's do. Of each size, sums and products of how
 * many there are in an interval: bounded memory, however long it lasts, and the same however records are grouped into
 * batches.
 *
 * Of the kind that there is less of, each is to come with one of the other: the slope of the line through the intervals'
 * counts is 1 (whatever else reads or writes so is noise on it), and 0 where the two have nothing to do with each other.
 * Counts are taken about the mean of some intervals that follow each other: when programs begin and end makes them rise and
 * fall together, or one instead of the other, and tells nothing of what goes with what.
 */
#ifndef UNBLEND_ANALYZER_CONCERT_H
#define UNBLEND_ANALYZER_CONCERT_H

#include <stdbool.h>

#include "lib/record.h"

struct concert_size;

/* A zeroed struct is an empty one; concert_clear() gives its memory back. */
struct concert {
    uint16_t *at; /* by bucket: in sizes, plus one */
    struct concert_size *sizes;
    uint32_t count, capacity;
};

/* A record that belongs to no process; of those of other operations nothing is kept. Batches come in the order of time. 0 or -ENOMEM. */
int concert_add(struct concert *concert, const struct batch *batch, const struct record *record);

/* Reads and writes of the size have rather nothing to do with each other. */
bool concert_apart(const struct concert *concert, unsigned bucket);

void concert_clear(struct concert *concert);

#endif
