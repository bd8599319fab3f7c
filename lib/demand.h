/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs ask of storage, as kinds of demand whose sums over time windows tell how evenly it comes. */
#ifndef UNBLEND_LIB_DEMAND_H
#define UNBLEND_LIB_DEMAND_H

#include <stdint.h>

#include "lib/operation.h"

enum demand {
    DEMAND_READ_BYTES,
    DEMAND_WRITE_BYTES,
    DEMAND_READ_OPS,
    DEMAND_WRITE_OPS,
    DEMAND_METADATA_OPS,
    DEMAND_COUNT
};

/* Sets of demands. */
#define DEMAND_BIT(demand) (1u << (demand))
#define DEMAND_BYTES       (DEMAND_BIT(DEMAND_READ_BYTES) | DEMAND_BIT(DEMAND_WRITE_BYTES))
#define DEMAND_DATA_OPS    (DEMAND_BIT(DEMAND_READ_OPS) | DEMAND_BIT(DEMAND_WRITE_OPS))

/* The demand of one window of time. */
struct demand_slot {
    uint64_t demand[DEMAND_COUNT];
};

/* What so many operations of a kind stand for; all 0 for those that are no demand (seek, fsync, page faults). */
struct demand_slot demand_of(enum operation op, uint64_t ops, uint64_t bytes);

/* The sum of a set of demands. */
static inline uint64_t demand_sum(const struct demand_slot *slot, unsigned demands)
{
    uint64_t sum = 0;

    for (unsigned d = 0; d < DEMAND_COUNT; d++)
        if (demands & DEMAND_BIT(d))
            sum += slot->demand[d];
    return sum;
}

/* The caller knows that it does not overflow. */
static inline void demand_add(struct demand_slot *to, const struct demand_slot *more)
{
    for (unsigned d = 0; d < DEMAND_COUNT; d++)
        to->demand[d] += more->demand[d];
}

#endif
