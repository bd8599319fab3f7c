/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The batches that wait in the spool, by their place in it, and what is known of each. Not thread safe. */
#ifndef UNBLEND_AGENT_QUEUE_H
#define UNBLEND_AGENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct waiting {
    uint64_t place;
    uint64_t usage;     /* bytes of disk */
    int64_t not_before; /* monotonic ms; 0: at once */
    uint32_t put_off_ms;
    bool maybe_sent;
};

/* A zeroed struct is an empty queue. */
struct queue {
    struct waiting *list; /* ascending; those in use start at first, so that taking the oldest is cheap */
    unsigned first, count, capacity;
    uint64_t usage; /* of all */
};

static inline struct waiting *queue_at(const struct queue *queue, unsigned i)
{
    return &queue->list[queue->first + i];
}

/* At the end, wherever its place is. 0 or -ENOMEM. */
int queue_add(struct queue *queue, const struct waiting *waiting);
void queue_remove(struct queue *queue, unsigned i);

/* Brings them into the order of their places. */
void queue_sort(struct queue *queue);

/* The position of the first that has that place or a later one; count when there is none. */
unsigned queue_seek(const struct queue *queue, uint64_t place);

/* Whether that place waits, and where. */
bool queue_find(const struct queue *queue, uint64_t place, unsigned *i);

void queue_clear(struct queue *queue);

#endif
