/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfers that go with something else of the same size. A copy can only be made of reads and writes that are as many,
 * and who reads whole files makes reads as large as what was opened: such operations get bins of their own, so that what
 * is over is nobody's copy and nobody's whole file; and so do opens of files as large as what was copied. Reads and writes
 * that come at other times are no copy, however many there are.
 */
#ifndef UNBLEND_ANALYZER_MATCHING_H
#define UNBLEND_ANALYZER_MATCHING_H

#include <stddef.h>

#include "analyzer/concert.h"
#include "analyzer/part.h"

/* Splits (*bins)[*count], which is malloc'ed and in the order of operations. concert: NULL where it is not known when they
   came. 0 or -ENOMEM. */
int matching_split(struct bin **bins, size_t *count, const struct concert *concert);

#endif
