/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rollups: batches into minutes, minutes into hours. A round takes batches out of a queue and adds their rows to the
 * next tier in one transaction, so each of them is counted there exactly once, however often rounds are broken off
 * and whoever runs them: collectors take turns by an advisory lock. A minute is made when it has been over for some
 * seconds; what comes later is added then.
 */
#ifndef UNBLEND_COLLECTOR_ROLLUP_H
#define UNBLEND_COLLECTOR_ROLLUP_H

#include "collector/db.h"

enum rollup {
    ROLLUP_MINUTE,
    ROLLUP_HOUR,
    ROLLUP_COUNT
};

/*
 * One round; *batches is how many it took: 0 when none is ready, or when another collector is at it. all: those that
 * are not over, too. Results of db.h, or -ENOMEM; after a failure nothing has happened.
 */
int rollup_round(struct db *db, enum rollup rollup, bool all, int64_t *batches);

/* Rounds of all tiers until nothing is ready; *batches is how many raw ones were taken. As rollup_round(). */
int rollup_all(struct db *db, bool all, int64_t *batches);

#endif
