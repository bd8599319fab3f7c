/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands share: the values of options, and a database that answers. */
#ifndef UNBLEND_COLLECTOR_WORK_H
#define UNBLEND_COLLECTOR_WORK_H

#include "collector/serve.h"
#include "collector/store.h"

#define WORK_USAGE 2 /* exit status */

/* All values that options set; a configuration file may hold any of them, whatever the command. */
struct values {
    struct serve_options serve;
    struct identity who;      /* whom enroll and revoke are about */
    const char *cluster;
    const char *join, *site, *key; /* enroll, revoke */
    uint64_t expires_ns, reborn_ns, max;
    const char *writer, *reader; /* init-db: roles */
    const char *since, *until;   /* keep, export */
    const char *output;          /* export; NULL: standard output */
    const char *operand;         /* import: the bundle; NULL: none was given */
    bool release;
    bool citus; /* init-db */
};

/* Something to do with the database. 0, or -errno after one line in the log. */
typedef int work_function(struct store *store, const struct values *values, void *context);

/* Becomes the database's user, makes the database answer (set_up: with schema and partitions), does the work, and
   leaves all as it was. The exit status. */
int work_with_database(const struct values *values, bool set_up, work_function *work, void *context);

#endif
