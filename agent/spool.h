/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batches on disk until the collector has them for good. One file a batch, a frame of lib/recording.h, made
 * under another name, fsynced and renamed, so a crash leaves all of it or nothing. The stream (128
 * random bits) and the highest number given out are kept beside them, so no number is used twice.
 *
 *   DIR/stream      the stream's 32 hex digits and, behind a blank, the highest number acknowledged
 *   DIR/spool/N     batches waiting, N of 20 digits
 *   DIR/refused/N   batches that the collector will never take
 *
 * Safe from several threads.
 */
#ifndef UNBLEND_AGENT_SPOOL_H
#define UNBLEND_AGENT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/record.h"

struct spool;

/* Opens or creates; leftovers of a crash are removed. 0 or -errno, logged. */
int spool_open(const char *directory, struct spool **out);
void spool_close(struct spool *spool); /* NULL is fine */

/* Gives the batch its stream and number and makes it safe on disk. 0 or -errno (not logged): nothing of
   it is left behind then, and the batch can be tried again. */
int spool_append(struct spool *spool, struct batch *batch);

/* How many batches wait. */
unsigned spool_pending(struct spool *spool);

/* The oldest batch: its number and compressed JSON, malloc'ed. 1, 0 when none waits, -errno. A file that is
   damaged is set aside, logged, and passed over. */
int spool_oldest(struct spool *spool, uint64_t *seq, void **payload, size_t *size);

/* The collector has committed it: forget it. 0 or -errno. */
int spool_acknowledge(struct spool *spool, uint64_t seq);

/* The collector will never take it: keep it aside. 0 or -errno. */
int spool_refuse(struct spool *spool, uint64_t seq);

/* Our stream is somebody else's too (a copied state directory): all waiting batches get a new one. 0 or -errno. */
int spool_restream(struct spool *spool);

#endif
