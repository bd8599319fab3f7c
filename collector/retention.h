/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is dropped: partitions whose rows are older than their tier is kept, and, when the database comes near the size
 * it may have, the oldest raw rows, then the oldest minutes. Nothing goes before the next tier has it, and raw rows
 * that meet a kept span never go. Each drop is said in a line.
 */
#ifndef UNBLEND_COLLECTOR_RETENTION_H
#define UNBLEND_COLLECTOR_RETENTION_H

#include "collector/partition.h"

struct retention {
    uint64_t keep_ns[TIER_COUNT];
    uint64_t max_bytes; /* of the whole database; 0: no limit */
};

struct retention_done {
    unsigned dropped;  /* partitions of each table */
    unsigned waiting;  /* those that somebody reads, or whose rollups are not made yet: next time */
    uint64_t bytes;    /* of the database now */
    bool full;         /* it is beyond its limit, and nothing may go */
};

/* Leaves it to another collector that is at it. Results of db.h. */
int retention_apply(struct db *db, const struct retention *retention, struct retention_done *done);

#endif
