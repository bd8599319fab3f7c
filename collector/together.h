/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Group commit: the bodies of many agents in one transaction, each answered after its commit as if it had been alone.
 * What one of them has wrong is its own: should the transaction fail, each is stored by itself.
 */
#ifndef UNBLEND_COLLECTOR_TOGETHER_H
#define UNBLEND_COLLECTOR_TOGETHER_H

#include "collector/ingest.h"
#include "collector/pool.h"

#define TOGETHER_MAX  POOL_TOGETHER /* bodies */
#define TOGETHER_SIZE (64u << 10)   /* bytes: larger ones are a transaction's worth by themselves */

struct parcel {
    const struct identity *who;
    enum encoding encoding;
    const void *body;
    size_t size;
    struct answer *answer; /* filled in */
};

/* At most TOGETHER_MAX. Never fails but through the answers. */
void ingest_together(struct store *store, const struct parcel *parcels, unsigned count);

#endif
