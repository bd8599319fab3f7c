/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was done, summed over time, and the ratios that describe it. Pure: nothing here knows where
 * the records came from.
 */
#ifndef UNBLEND_ANALYZER_FEATURE_H
#define UNBLEND_ANALYZER_FEATURE_H

#include "lib/record.h"

/* Totals by operation; only the counts of the records are used. Zeroed is empty. */
struct tally {
    struct record op[OP_COUNT];
};

/* 0, -ENOMEM or -ERANGE; on failure the tally is as before. */
int tally_add(struct tally *tally, const struct record *record);
/* As tally_add(), but on failure some operations may have been added. */
int tally_merge(struct tally *tally, const struct tally *other);
void tally_clear(struct tally *tally);

uint64_t tally_ops(const struct tally *tally, enum operation op);
/* Operations that did not fail. */
uint64_t tally_succeeded(const struct tally *tally, enum operation op);
/* All operations of the file layer, faults included; bytes read and written by calls and by faults.
 */
uint64_t tally_file_ops(const struct tally *tally);
uint64_t tally_file_bytes(const struct tally *tally);

/* Undefined ratios (nothing to divide by) are NAN. */
struct ratios {
    double read_ops;               /* read / (read + write) */
    double read_bytes;             /* alike, in bytes */
    double metadata_ops;           /* metadata / (all - seek); all leaves out mmap_fault */
    double metadata_ops_no_close;  /* without close on both sides */
    double metadata_ops_with_seek; /* with seek on both sides */
    double open_ops;               /* (open + create) / (all - seek) */
    double opens_per_read;         /* (open + create) / (open + create + non-empty reads) */
    double opens_per_mib;          /* over the MiB read and written by calls */
    double order[ORDER_COUNT];     /* of the transfers whose start is known */
};

void ratios_of(const struct tally *tally, struct ratios *out);

#endif
