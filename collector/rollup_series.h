/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Series of one rollup in memory: records by a key of four numbers and an operation. What would make a sum too large
 * for a bigint makes a second series of the same key: whoever reads sums up.
 *
 * A zeroed struct is empty. Pointers are good until the next rolled_add().
 */
#ifndef UNBLEND_COLLECTOR_ROLLUP_SERIES_H
#define UNBLEND_COLLECTOR_ROLLUP_SERIES_H

#include "lib/lookup.h"
#include "lib/record.h"

struct rolled_key {
    int64_t group; /* of the node and its minute or hour, or a time */
    int64_t job, volume, op; /* of totals: a subject, 0 */
};

struct rolled_series {
    struct rolled_key key;
    struct record record; /* its job and volume mean nothing */
};

struct rolled {
    struct rolled_series *series;
    uint32_t count, capacity;
    struct lookup index;
};

/* Adds a record, which stays the caller's. 0 or -ENOMEM. */
int rolled_add(struct rolled *rolled, const struct rolled_key *key, const struct record *record);

void rolled_clear(struct rolled *rolled);

#endif
