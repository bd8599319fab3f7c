/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large the files of reads are, by the size of the reads, where that was not counted (analyzer/joining.h) but of all
 * reads together: who reads in blocks of one size mostly reads files of one kind with them, so that when as many reads are of
 * small files as there are of some sizes, these are they. And nothing reads more of a file than there is.
 */
#ifndef UNBLEND_ANALYZER_FILING_H
#define UNBLEND_ANALYZER_FILING_H

#include <stddef.h>

#include "analyzer/part.h"

/* A bit for each enum file_size; and of stats, seeks, closes and empty reads, one for all else: what is no
   regular file, or of seeks and closes may be written. */
#define FILES_ANY     ((1u << FILE_SIZES) - 1)
#define FILES_OTHERS  (1u << FILE_SIZES)
#define FILES_UNKNOWN (FILES_ANY | FILES_OTHERS)

/* Of how many reads that moved something it is known; 0 where of too few of them, as the others may be of one kind. */
double filing_known(const struct record *read);

/* Notes in the bins of reads of what files they may be. */
void filing_note(const struct tally *tally, struct bin *bins, size_t count);

#endif
