/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording's batches, decoded by threads ahead of whoever reads them, in the file's order. Decoding is most of the
 * time of a report, and each frame stands by itself. At most AHEAD_BATCHES are in memory.
 */
#ifndef UNBLEND_ANALYZER_DECODE_AHEAD_H
#define UNBLEND_ANALYZER_DECODE_AHEAD_H

#include "lib/recording.h"

#define AHEAD_BATCHES 64

struct decode_ahead;

/* Starts threads on a reader that stays the caller's, who leaves it alone until decode_free(). 0, -ENOMEM, or -EAGAIN
   when no thread can be started. */
int decode_start(struct recording_reader *reader, unsigned threads, struct decode_ahead **out);

/* As recording_read(). */
int decode_next(struct decode_ahead *ahead, struct batch **out, struct codec_error *error);

/* Where the frame behind the last one that decode_next() gave begins, as recording_tell(). For whoever calls
   decode_next(). */
uint64_t decode_tell(const struct decode_ahead *ahead);

void decode_free(struct decode_ahead *ahead); /* NULL is fine; what was decoded is lost */

#endif
