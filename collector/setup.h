/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a server that answers to a database with our schema. */
#ifndef UNBLEND_COLLECTOR_SETUP_H
#define UNBLEND_COLLECTOR_SETUP_H

#include <stdbool.h>

#include "collector/db.h"
#include "collector/embedded.h"
#include "collector/partition.h"

/* Where the database is, as the options say: one of the two is NULL. */
struct setup {
    const char *db;       /* conninfo */
    const char *embedded; /* directory */
    const char *sockets;  /* directory of its socket; NULL: the same */
    uint64_t keep_ns[TIER_COUNT]; /* how long rows are kept, for partitions of the past */
};

/* Makes the database unblend on the embedded server if it is not there, then schema and partitions.
   Results of db.h; *why says the same in words. */
int setup_database(const struct setup *setup, const char *conninfo, char why[256]);

/*
 * The same for a command: with an embedded database it starts the server unless a collector runs
 * it, and waits until it answers; *embedded is then the caller's to stop, or NULL. 0 or -errno
 * (logged).
 */
int setup_database_wait(const struct setup *setup, const char *conninfo,
                        struct embedded **embedded);

#endif
