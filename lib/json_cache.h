/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsed JSON by its text, for texts of which there are few that come again and again: labels, mounts, hooks. A zeroed
   struct is an empty cache. Not thread safe. */
#ifndef UNBLEND_LIB_JSON_CACHE_H
#define UNBLEND_LIB_JSON_CACHE_H

#include <jansson.h>

#include "lib/lookup.h"

#define JSON_CACHE_TEXTS 1024

struct json_cache {
    struct lookup index;
    struct json_cached {
        char *text;
        json_t *value;
    } *texts;
    uint32_t count, capacity;
};

/* What a text says; the cache's, until json_cache_trim(). NULL when it is no JSON, and without memory. */
const json_t *json_cache_get(struct json_cache *cache, const char *text);

/* Forgets everything when there are more than JSON_CACHE_TEXTS, so that memory has a bound. */
void json_cache_trim(struct json_cache *cache);

void json_cache_clear(struct json_cache *cache);

#endif
