/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which reads go on and which jump, by size, where that was not counted (analyzer/joining.h) but of all reads together: who
 * reads in blocks of one size mostly either goes on with all of them or jumps to each, so that when as many reads go on as
 * there are of some sizes, these are they.
 */
#ifndef UNBLEND_ANALYZER_ORDERING_H
#define UNBLEND_ANALYZER_ORDERING_H

#include <stddef.h>

#include "analyzer/part.h"

/* Notes it in the bins of reads of which it is clear. */
void ordering_note(const struct tally *tally, struct bin *bins, size_t count);

#endif
