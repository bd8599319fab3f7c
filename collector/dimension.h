/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows that many batches share: what a node says of itself, its jobs, its volumes. Each is written
 * once and found again by a digest of its content.
 */
#ifndef UNBLEND_COLLECTOR_DIMENSION_H
#define UNBLEND_COLLECTOR_DIMENSION_H

#include "collector/copy.h"
#include "collector/db.h"
#include "collector/dimension_cache.h"
#include "lib/record.h"

/*
 * Find or add. The arrays have an element for each job and volume of the batch, in its order; room is to work in.
 * Results of db.h, or -ENOMEM.
 */
int dimension_host(struct db *db, struct dimension_cache *cache, int64_t node_id, const struct batch *batch,
                   struct copy *room, int64_t *host_id);
int dimension_jobs(struct db *db, struct dimension_cache *cache, int64_t node_id, const struct batch *batch,
                   struct copy *room, int64_t *ids);
int dimension_volumes(struct db *db, struct dimension_cache *cache, int64_t node_id, const struct batch *batch,
                      struct copy *room, int64_t *ids);

#endif
