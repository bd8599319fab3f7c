/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a collector does for the database beside taking batches, in a thread with a connection of its own: rollups,
 * partitions ahead, retention. It waits while the database is away, and goes on where it, or another, has stopped.
 */
#ifndef UNBLEND_COLLECTOR_UPKEEP_H
#define UNBLEND_COLLECTOR_UPKEEP_H

#include "collector/retention.h"

struct upkeep;

/* The conninfo must outlive it. 0 or -errno. */
int upkeep_start(const char *conninfo, const struct retention *retention, struct upkeep **out);

/* Lets it finish its round. NULL is fine. */
void upkeep_stop(struct upkeep *upkeep);

/* All of it once, now, on a connection: rollups of what is over, retention. Results of db.h. */
int upkeep_once(struct db *db, const struct retention *retention, int64_t *batches, struct retention_done *done);

#endif
