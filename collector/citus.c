/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/citus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int holds(struct db *db, const char *sql, bool *yes)
{
    _cleanup_result_ PGresult *result = NULL;
    int err = db_query(db, sql, NULL, &result);

    if (!err)
        *yes = *PQgetvalue(result, 0, 0) == 't';
    return err;
}

int citus_distribute(struct db *db)
{
    char why[sizeof(db->why)];
    bool there = false, done = false;
    int err = holds(db, "select exists (select from pg_extension where extname = 'citus')", &there);

    if (!err && !there) {
        snprintf(db->why, sizeof(db->why), "the database has no extension citus");
        return -ENOENT;
    }
    if (!err)
        err = holds(db, "select exists (select from pg_dist_partition where logicalrelid = 'unblend.batch'::regclass)",
                    &done);
    if (err || done)
        return err;
    /* Functions of the extension are wherever it was made. */
    err = db_run(db, "begin; set local search_path = public, pg_catalog; set local statement_timeout = 0");
    if (!err)
        err = db_run(db, citus_script);
    if (!err)
        return db_run(db, "commit");
    memcpy(why, db->why, sizeof(why));
    if (db->conn && db_run(db, "rollback"))
        db_close(db);
    memcpy(db->why, why, sizeof(why));
    return err;
}
