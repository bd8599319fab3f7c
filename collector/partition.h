/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions by time (UTC): six hours of raw rows, a day of minutes, a month of hours. They are made ahead; rows of
 * other times go to a default partition, and get one of their own later, unless their clock was far off. Results of
 * db.h.
 */
#ifndef UNBLEND_COLLECTOR_PARTITION_H
#define UNBLEND_COLLECTOR_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/db.h"

enum tier {
    TIER_RAW,
    TIER_MINUTE,
    TIER_HOUR,
    TIER_COUNT
};

/* How long the rows of each tier are kept, in ns. */
#define KEEP_DEFAULT                                                                               \
    {                                                                                              \
        INT64_C(48) * 3600 * 1000000000, INT64_C(30) * 86400 * 1000000000,                         \
            INT64_C(730) * 86400 * 1000000000                                                      \
    }

/* The tables of a tier, in the order in which they must be locked; NULL ends them. */
extern const char *const partition_tables[TIER_COUNT][6];

/* Its name in unblend.tier, and the queue of what is to be rolled up from it (NULL: none). */
extern const char *const partition_tier[TIER_COUNT];
extern const char *const partition_queue[TIER_COUNT];

/* Makes what is missing, also of the rows that wait in default partitions and are to be kept. Leaves it to another
   collector, or thread, that is at it, or waits until that is done: rows that are moved meanwhile are seen in neither
   place by who began to read before. */
int partition_make(struct db *db, const uint64_t keep_ns[TIER_COUNT], bool wait);

/* SQL for the partitions of the table batch of a tier: rows of suffix ("2026112106"), since, until; in order. */
const char *partition_list(enum tier tier);

#endif
