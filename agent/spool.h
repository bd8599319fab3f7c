/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batches on disk until the collector has them for good. One file a batch, a frame of lib/recording.h, safe on
 * disk before it is sent and deleted after a 200 only.
 *
 * Every start takes a new stream (128 random bits) and counts its batches from 1. So no number is ever given out
 * twice, even where the directory was wiped or brought back from an older copy: what comes back is sent again
 * under its old number, and the collector's ledger knows it.
 *
 *   DIR/streams     a line for each stream that batches wait of, oldest first: the stream and the first N of it
 *   DIR/spool/N     batches waiting, N of 20 digits, in the order in which they were made
 *   DIR/refused/N   batches that the collector will never take, and damaged ones
 *   DIR/dropped     what will never come and is not known to the collector yet (agent/dropped.h)
 *
 * Nothing that happens to the disk ends the agent. Safe from several threads.
 */
#ifndef UNBLEND_AGENT_SPOOL_H
#define UNBLEND_AGENT_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/record.h"

#define SPOOL_MAX_DEFAULT (UINT64_C(1) << 30)

struct spool;

/* max: bytes of disk that batches may take; beyond it the oldest are dropped, counted and told to the collector.
   0, or -errno (logged); a full or read-only disk is no failure, it is tried again with each batch. */
int spool_open(const char *directory, uint64_t max, struct spool **out);
/* Makes all that is there on the disk that user's. 0, or -errno (logged); a read-only disk is no failure. */
int spool_give(struct spool *spool, uid_t uid, gid_t gid);

void spool_close(struct spool *spool); /* NULL is fine */

/* Gives the batch its stream and number, and what was dropped before, and makes it safe on disk. 0 or -errno (not
   logged): nothing of it is left behind then, and the batch can be tried again. */
int spool_append(struct spool *spool, struct batch *batch);

/* How many batches wait. */
unsigned spool_pending(struct spool *spool);

/*
 * The oldest batch after that place which may be sent now: its place (never 0) and compressed JSON, malloc'ed. 1; 0
 * when there is none, with *wait_ms until there is one of those that were put off (0: none was); or -errno. What is
 * damaged is set aside, logged, counted and passed over.
 */
int spool_next(struct spool *spool, uint64_t after, uint64_t *place, void **payload, size_t *size, unsigned *wait_ms);

/* The collector has committed it: forget it. 0 or -errno. */
int spool_acknowledge(struct spool *spool, uint64_t place);

/* The collector will never take it: keep it aside. 0 or -errno. */
int spool_refuse(struct spool *spool, uint64_t place);

/* The collector could not take this one now: those behind it go first, for a time that grows with each such word. */
void spool_put_off(struct spool *spool, uint64_t place);

/*
 * The collector has another batch under this stream and number (a copied state directory): this one takes a stream
 * that is made of what it holds, so that all copies of it take the same; batches to come take a new one. 0 or -errno.
 */
int spool_restream(struct spool *spool, uint64_t place);

#endif
