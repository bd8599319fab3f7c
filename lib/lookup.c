/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/lookup.h"

#include <errno.h>
#include <stdlib.h>

struct lookup_slot {
    uint32_t hash;
    uint32_t position; /* plus one; 0 is a free slot */
};

/* FNV-1a (Fowler, Noll, Vo), with the high bits folded in because the low ones choose the slot. */
uint32_t lookup_hash(const void *key, size_t size)
{
    const unsigned char *bytes = key;
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash ^ hash >> 15;
}

int lookup_reserve(struct lookup *lookup)
{
    struct lookup grown = {.size = lookup->size ? lookup->size * 2 : 64};

    if (lookup->size && lookup->used * 2 < lookup->size)
        return 0;
    grown.slots = calloc(grown.size, sizeof(*grown.slots));
    if (!grown.slots)
        return -ENOMEM;
    for (uint32_t i = 0; i < lookup->size; i++)
        if (lookup->slots[i].position)
            lookup_insert(&grown, lookup->slots[i].hash, lookup->slots[i].position - 1);
    free(lookup->slots);
    *lookup = grown;
    return 0;
}

void lookup_insert(struct lookup *lookup, uint32_t hash, uint32_t position)
{
    uint32_t at = hash & (lookup->size - 1);

    while (lookup->slots[at].position)
        at = (at + 1) & (lookup->size - 1);
    lookup->slots[at] = (struct lookup_slot){.hash = hash, .position = position + 1};
    lookup->used++;
}

bool lookup_next(const struct lookup *lookup, uint32_t hash, uint32_t *cursor, uint32_t *position)
{
    if (!lookup->size)
        return false;
    for (;; (*cursor)++) {
        const struct lookup_slot *slot = &lookup->slots[*cursor & (lookup->size - 1)];

        if (!slot->position)
            return false;
        if (slot->hash == hash) {
            *position = slot->position - 1;
            (*cursor)++;
            return true;
        }
    }
}

void lookup_clear(struct lookup *lookup)
{
    free(lookup->slots);
    *lookup = (struct lookup){0};
}
