/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sizes of reads that stand out: programs read in blocks of one size. What is known of all reads together only (where
 * they start, how large their files are) may be known of a size when as many reads are so as have some of these sizes.
 */
#ifndef UNBLEND_ANALYZER_MODES_H
#define UNBLEND_ANALYZER_MODES_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/part.h"

#define MODES 6 /* sizes that stand out, at most; all others are one more */

#define MODES_READS_MIN  100  /* fewer are of no size in particular */
#define MODES_MISFIT_MAX 0.02 /* of all reads */

struct modes {
    unsigned bucket[MODES];
    double weight[MODES], reads[MODES + 1]; /* the last: of all other sizes */
    unsigned count;
    double all; /* reads that take part */
};

/* Of the reads of these bins for which it is true. */
void modes_find(const struct bin *bins, size_t count, bool (*takes_part)(const struct bin *bin), struct modes *out);

/* Which mode a size is: `count` for all that do not stand out. */
unsigned modes_of(const struct modes *modes, unsigned bucket);

/* The size is hardly so if that would be this far from what was counted, and otherwise at least that far. */
bool modes_is_unlikely(double misfit, double least);

#endif
