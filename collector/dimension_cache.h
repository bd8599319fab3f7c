/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ids of rows that were found before, by node and digest: such rows never change theirs. A zeroed struct is empty. One
 * thread, one connection.
 */
#ifndef UNBLEND_COLLECTOR_DIMENSION_CACHE_H
#define UNBLEND_COLLECTOR_DIMENSION_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/lookup.h"

#define DIGEST_SIZE 16 /* bytes of the SHA-256; keys of rows, no protection */

struct dimension_key {
    int64_t table, node_id;
    uint8_t digest[DIGEST_SIZE];
};

struct dimension_cache {
    struct dimension_entry *entries;
    uint32_t count, capacity;
    struct lookup index;
    bool uncommitted; /* has what the running transaction has written, perhaps */
};

/* False when it is not known. */
bool dimension_cached(const struct dimension_cache *cache, const struct dimension_key *key, int64_t *id);

/* Without memory it forgets all. */
void dimension_remember(struct dimension_cache *cache, const struct dimension_key *key, int64_t id);

/* When a transaction has ended: what it wrote is there, or is not. */
void dimension_settle(struct dimension_cache *cache, bool committed);

void dimension_forget(struct dimension_cache *cache);

#endif
