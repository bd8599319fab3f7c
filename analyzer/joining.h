/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which reads go on and which jump, and of what files they are, by size, where that was counted together (lib/joint.h): then
 * nothing of it need be inferred from the sums over all sizes (analyzer/ordering.h, analyzer/filing.h).
 */
#ifndef UNBLEND_ANALYZER_JOINING_H
#define UNBLEND_ANALYZER_JOINING_H

#include <stddef.h>

#include "analyzer/part.h"

/* Splits (*bins)[*count], which is malloc'ed and in the order of operations: reads, and writes into those that go on and those
   that jump. 1, 0 if it was not counted of reads, or -ENOMEM. */
int joining_split(const struct tally *tally, struct bin **bins, size_t *count);

#endif
