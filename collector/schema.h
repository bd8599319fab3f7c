/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our schema in a database: its steps. Results of db.h. */
#ifndef UNBLEND_COLLECTOR_SCHEMA_H
#define UNBLEND_COLLECTOR_SCHEMA_H

#include "collector/db.h"

/* One step of the schema, compiled in from collector/schema/. */
struct migration {
    const char *name;
    const char *sql;
};

extern const struct migration schema_migrations[];
extern const unsigned schema_migration_count;

/* 0 when the schema is there with just our steps, else -ENOENT. */
int schema_check(struct db *db);

/* Takes the schema from whatever steps it has to all of ours; nothing happens when it is there. Safe beside
   others who do the same. */
int schema_apply(struct db *db);

#endif
