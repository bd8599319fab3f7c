/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The batches that this node made and that will never reach the collector, until the collector knows: kept in
 * DIR/dropped, told in the coverage of the next batch (its carrier), and forgotten when that one has arrived.
 * Telling twice does no harm: the collector goes by stream and number.
 *
 * Not thread safe.
 */
#ifndef UNBLEND_AGENT_DROPPED_H
#define UNBLEND_AGENT_DROPPED_H

#include "agent/spool_disk.h"

struct dropped_list {
    struct dropped_entry *entries;
    uint32_t count, capacity;
};

/* What a process before us left; damage is -EBADMSG, and none -ENOENT. 0 or -errno. */
int dropped_load(struct dropped_list *list, const struct spool_disk *disk);
int dropped_save(const struct dropped_list *list, const struct spool_disk *disk);
void dropped_free(struct dropped_list *list);

/* Adds a range, unless it is there. Neighbours become one unless maybe_sent: of those the collector may have some, and
   only what stands by itself keeps its exact count then. 0 or -ENOMEM. */
int dropped_add(struct dropped_list *list, const struct dropped *range, bool maybe_sent);

/* Puts what no batch carries yet into this one's coverage; 0 or -ENOMEM. */
int dropped_tell(const struct dropped_list *list, struct batch *batch);

/* The batch of that number carries all that dropped_tell() put into it. */
void dropped_carried(struct dropped_list *list, uint64_t carrier);

/* The carrier has arrived: true when something was forgotten, and is to be saved. */
bool dropped_arrived(struct dropped_list *list, uint64_t carrier);

/* The carrier will never arrive: to be told again. */
void dropped_again(struct dropped_list *list, uint64_t carrier);

#endif
