/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of what was done with one operation. */
#ifndef UNBLEND_ANALYZER_FIGURE_H
#define UNBLEND_ANALYZER_FIGURE_H

#include <math.h>
#include <stdbool.h>

#include "analyzer/feature.h"

/* NAN where there is nothing to divide by. */
static inline double quotient(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Whether so many bytes moved, about a MiB, that operations for each MiB of them are worth a sentence: of a few bytes
   they come out as millions. */
static inline bool figure_tells_per_mib(double bytes)
{
    return bytes >= 0.95 * 1048576;
}

/* Operations that failed, by why: no such name, another error, one that was not recorded. */
struct failures {
    double missing, other, unknown;
};

struct failures figure_failures(const struct record *record);

/* Operations that failed because there is no such name, with those whose error is not known. */
double figure_missing(const struct record *record);

/* Opens that succeeded; of regular files where that is known. */
double figure_opens(const struct tally *tally);

/* Opens of files of that size and more. */
double figure_opens_from(const struct histogram *sizes, double size);

/* Bytes that so many files of so many sizes have, of those of at least `from` bytes. */
double figure_bytes_of(const struct histogram *sizes, uint64_t from);

/* The first size so that half of the bytes are in pieces, or files, of up to that: its place among the cells; the length for
 * none. */
uint32_t figure_half_of(const struct histogram *sizes);

/* Reads, or seeks or closes, of which it is known how large their file is. */
uint64_t figure_sized(const struct record *record);

/* Transfers of which it is known where they start. */
double figure_ordered(const struct record *transfers);

/* Share of the reads that are known to have gone past the page cache: it was told where they start, as it is of
   no copy that a file system may make by itself, and not what the page cache did. NAN: on that type of file systems it says nothing. */
double figure_direct(const char *fstype, const struct record *read);

/* Share of transfers that do not start where the one before ended, where that is known of half of them; else NAN. */
double figure_jumps(const struct record *transfers);

/* Share of the transfers that jump which go back. NAN: none jumps. */
double figure_returns(const struct record *transfers);

/* Files made to each that was opened and is not much smaller, of who makes many small ones that are a good part of what it
 * reads, as who unpacks an archive does; 0 of all others. */
double figure_unpacked(const struct tally *tally);

/* fsyncs beyond the writes: of what was written by a mapping. */
double figure_unwritten_syncs(const struct tally *tally);

/* Of who saves again and again under a name that only what is whole gets, about 1; of a few renames 0. */
double figure_renames_per_create(double renames, double creates);

/* Sizes of transfers that do not start where the one before ended; *out is to be cleared. 1, 0 and an empty one where that is
   not known of nearly all of them, or -ENOMEM. */
int figure_jumped(const struct record *transfers, struct histogram *out);

/* Stats that found a regular file, by how large it is. */
struct described {
    uint64_t all[FILE_SIZES], by_name[FILE_SIZES];
};

/* False, and all 0, where none was counted. */
bool figure_described(const struct record *stat, struct described *out);

/* Share of the bytes written that had just come from the network; NAN: none were written. */
double figure_received(const struct record *write);
/* Bytes written to bytes that their processes received meanwhile, or the reverse where these are fewer; NAN alike. */
double figure_passed(const struct record *write);

/* Share of the bytes read, by calls and page faults, that were read by processes that wrote meanwhile; of tallies without
   processes: else 0. NAN: nothing was read. */
double figure_reworked(const struct tally *tally);

/* Share of major page faults that were to write, as programs' own data is when they are loaded; NAN: not known. */
double figure_fault_writes(const struct record *record);

/* Bytes of page faults to each that was to write: little for who loads libraries, whose own data are written to. INFINITY: none
   was, or it is not known. */
double figure_bytes_per_fault_write(const struct record *record);

#endif
