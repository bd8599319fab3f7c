/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/dimension_cache.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 200000 /* then it starts anew: jobs come and go */

struct dimension_entry {
    struct dimension_key key;
    int64_t id;
};

bool dimension_cached(const struct dimension_cache *cache, const struct dimension_key *key, int64_t *id)
{
    uint32_t hash = lookup_hash(key, sizeof(*key)), cursor = hash, position;

    while (lookup_next(&cache->index, hash, &cursor, &position))
        if (memcmp(&cache->entries[position].key, key, sizeof(*key)) == 0) {
            *id = cache->entries[position].id;
            return true;
        }
    return false;
}

void dimension_remember(struct dimension_cache *cache, const struct dimension_key *key, int64_t id)
{
    if (cache->count == ENTRIES_MAX)
        dimension_forget(cache);
    if (cache->count == cache->capacity) {
        uint32_t capacity = cache->capacity ? 2 * cache->capacity : 256;
        struct dimension_entry *grown = reallocarray(cache->entries, capacity, sizeof(*grown));

        if (!grown) {
            dimension_forget(cache);
            return;
        }
        cache->entries = grown;
        cache->capacity = capacity;
    }
    if (lookup_reserve(&cache->index)) {
        dimension_forget(cache);
        return;
    }
    cache->entries[cache->count] = (struct dimension_entry){*key, id};
    lookup_insert(&cache->index, lookup_hash(key, sizeof(*key)), cache->count++);
    cache->uncommitted = true;
}

void dimension_settle(struct dimension_cache *cache, bool committed)
{
    if (!committed && cache->uncommitted)
        dimension_forget(cache);
    cache->uncommitted = false;
}

void dimension_forget(struct dimension_cache *cache)
{
    free(cache->entries);
    lookup_clear(&cache->index);
    *cache = (struct dimension_cache){.entries = NULL};
}
