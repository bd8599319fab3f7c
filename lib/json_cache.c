/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/json_cache.h"

#include <stdlib.h>
#include <string.h>

static int make_room(struct json_cache *cache)
{
    uint32_t capacity = cache->capacity ? 2 * cache->capacity : 16;
    struct json_cached *grown;

    if (cache->count == cache->capacity) {
        grown = reallocarray(cache->texts, capacity, sizeof(*grown));
        if (!grown)
            return -1;
        cache->texts = grown;
        cache->capacity = capacity;
    }
    return lookup_reserve(&cache->index);
}

const json_t *json_cache_get(struct json_cache *cache, const char *text)
{
    uint32_t hash = lookup_hash(text, strlen(text)), cursor = hash, at;
    struct json_cached new;

    while (lookup_next(&cache->index, hash, &cursor, &at))
        if (strcmp(cache->texts[at].text, text) == 0)
            return cache->texts[at].value;
    if (make_room(cache))
        return NULL;
    new = (struct json_cached){strdup(text), json_loads(text, JSON_DECODE_ANY, NULL)};
    if (!new.text || !new.value) {
        free(new.text);
        json_decref(new.value);
        return NULL;
    }
    cache->texts[cache->count] = new;
    lookup_insert(&cache->index, hash, cache->count++);
    return new.value;
}

void json_cache_trim(struct json_cache *cache)
{
    if (cache->count > JSON_CACHE_TEXTS)
        json_cache_clear(cache);
}

void json_cache_clear(struct json_cache *cache)
{
    for (uint32_t i = 0; i < cache->count; i++) {
        free(cache->texts[i].text);
        json_decref(cache->texts[i].value);
    }
    free(cache->texts);
    lookup_clear(&cache->index);
    *cache = (struct json_cache){0};
}
