/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/lookup.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct lookup_slot {
    uint32_t hash;
    uint32_t position; /* plus one; 0 is a free slot */
};

/* Of this run alone: names and indices come from outside, and nobody may choose keys that collide.
 */
static uint64_t secret(void)
{
    static _Atomic uint64_t kept;
    uint64_t value = kept, none = 0;

    if (value)
        return value;
    if (getrandom(&value, sizeof(value), GRND_NONBLOCK) != sizeof(value))
        value = (uint64_t)(uintptr_t)&value ^ (uint64_t)time(NULL); /* early in boot */
    value |= 1;
    return atomic_compare_exchange_strong(&kept, &none, value) ? value : none;
}

/* The multiplication of wyhash (Wang Yi): both halves of the 128-bit product. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t lookup_hash(const void *key, size_t size)
{
    const unsigned char *bytes = key;
    uint64_t seed = secret(), hash = seed ^ size;

    for (; size; size -= size < 8 ? size : 8, bytes += 8) {
        uint64_t word = 0;

        memcpy(&word, bytes, size < 8 ? size : 8);
        hash = mix(hash ^ word, seed ^ 0x9e3779b97f4a7c15);
    }
    return (uint32_t)(hash ^ hash >> 32);
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
