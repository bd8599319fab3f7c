/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/queue.h"
#include "lib/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int queue_add(struct queue *queue, const struct waiting *waiting)
{
    if (queue->first && queue->first + queue->count == queue->capacity) {
        memmove(queue->list, queue_at(queue, 0), queue->count * sizeof(*queue->list));
        queue->first = 0;
    }
    if (queue->count == queue->capacity) {
        unsigned capacity = queue->capacity ? queue->capacity * 2 : 64;
        struct waiting *grown = reallocarray(queue->list, capacity, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        queue->list = grown;
        queue->capacity = capacity;
    }
    *queue_at(queue, queue->count++) = *waiting;
    queue->usage += waiting->usage;
    return 0;
}

void queue_remove(struct queue *queue, unsigned i)
{
    queue->usage -= queue_at(queue, i)->usage;
    if (i == 0)
        queue->first++;
    else
        memmove(queue_at(queue, i), queue_at(queue, i + 1), (queue->count - i - 1) * sizeof(*queue->list));
    if (!--queue->count)
        queue->first = 0;
}

static int ascending(const void *a, const void *b)
{
    return ORDER(((const struct waiting *)a)->place, ((const struct waiting *)b)->place);
}

void queue_sort(struct queue *queue)
{
    if (queue->count)
        qsort(queue_at(queue, 0), queue->count, sizeof(*queue->list), ascending);
}

unsigned queue_seek(const struct queue *queue, uint64_t place)
{
    unsigned low = 0, high = queue->count;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (queue_at(queue, middle)->place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool queue_find(const struct queue *queue, uint64_t place, unsigned *i)
{
    *i = queue_seek(queue, place);
    return *i < queue->count && queue_at(queue, *i)->place == place;
}

void queue_clear(struct queue *queue)
{
    free(queue->list);
    *queue = (struct queue){0};
}
