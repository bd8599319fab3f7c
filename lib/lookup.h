/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash index from keys to positions in somebody else's array. It stores hashes and positions only;
 * the caller compares the keys. A zeroed struct is an empty index.
 */
#ifndef UNBLEND_LIB_LOOKUP_H
#define UNBLEND_LIB_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lookup {
    struct lookup_slot *slots;
    uint32_t size; /* a power of two, or 0 */
    uint32_t used;
};

/* Differs from run to run. */
uint32_t lookup_hash(const void *key, size_t size);

/* Room for one more lookup_insert(). 0 or -ENOMEM. */
int lookup_reserve(struct lookup *lookup);

/* Needs a lookup_reserve() before; equal keys are the caller's business. */
void lookup_insert(struct lookup *lookup, uint32_t hash, uint32_t position);

/* The next position with that hash; *cursor starts as the hash. False when there is none left. */
bool lookup_next(const struct lookup *lookup, uint32_t hash, uint32_t *cursor, uint32_t *position);

void lookup_clear(struct lookup *lookup);

#endif
