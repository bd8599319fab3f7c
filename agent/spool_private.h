/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The spool's rooms: how batches come (spool.c), how they go out (spool_send.c), and how they are given up
   (spool_drop.c). Who calls these holds the lock. */
#ifndef UNBLEND_AGENT_SPOOL_PRIVATE_H
#define UNBLEND_AGENT_SPOOL_PRIVATE_H

#include <pthread.h>

#include "agent/dropped.h"
#include "agent/queue.h"
#include "agent/spool.h"
#include "agent/spool_disk.h"
#include "agent/streams.h"

struct spool {
    pthread_mutex_t lock;
    char *path;
    struct spool_disk disk; /* closed while it is full or read-only */
    struct streams streams;
    struct dropped_list dropped;
    uint64_t last; /* place given out */
    uint64_t max; /* bytes of disk */
    struct queue queue;
    uint64_t dropped_batches;
    bool unsaved; /* of dropped: the disk was full or read-only */
    bool stuck; /* something acknowledged cannot be deleted; said once */
};

/* The batch at that position of the queue will never arrive: counted, what it carried is to be told again, and all that
   is on disk before the batch goes from there, or to refused/ for those to keep. Without room for that it stays
   (-errno), unless it must go. */
int spool_give_up(struct spool *spool, unsigned i, const char *why, bool keep, bool must);

/* Writes what will never arrive; where that fails, the next batch tries again. 0 or -errno. */
int spool_save_dropped(struct spool *spool);

/* Gives up the oldest until so many more bytes fit. 0 with whether one had to go, or -errno. */
int spool_make_room(struct spool *spool, uint64_t usage, bool *dropped);

#endif
