/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Key of the advisory locks of ours: "unbl" in ASCII. 1: partitions, 2: what is dropped, from 16 on: rollups. */
#define LOCK_SCHEMA "1970168428, 0"

static int number_of(struct db *db, const char *sql, long *out)
{
    _cleanup_result_ PGresult *result = NULL;
    int err = db_query(db, sql, NULL, &result);

    if (!err)
        *out = strtol(PQgetvalue(result, 0, 0), NULL, 10);
    return err;
}

int schema_check(struct db *db)
{
    long version;
    int err = number_of(db, "select coalesce(max(version), 0) from unblend.migration", &version);

    if (err == -ENOENT)
        snprintf(db->why, sizeof(db->why),
                 "the database has no schema unblend: run unblend-collector init-db");
    if (err || version == (long)schema_version)
        return err;
    snprintf(
        db->why, sizeof(db->why),
        version < (long)schema_version
            ? "the schema has version %ld and this program wants %u: run unblend-collector init-db"
            : "the schema has version %ld and this program knows %u: install the newer Unblend",
        version, schema_version);
    return -ENOENT;
}

/* The migrations from a version on, inside the caller's transaction. */
static int migrate(struct db *db, unsigned version)
{
    int err = 0;

    for (unsigned i = version; i < schema_version && !err; i++) {
        struct db_args args = {.count = 0};

        err = db_run(db, schema_migrations[i].sql);
        db_number(&args, i + 1);
        db_text(&args, schema_migrations[i].name);
        if (!err)
            err = db_query(db, "insert into unblend.migration (version, name) values ($1, $2)",
                           &args, NULL);
    }
    return err;
}

int schema_apply(struct db *db)
{
    long version = 0;
    int err = schema_check(db);

    if (err != -ENOENT)
        return err; /* there: then this takes no right to create anything */
    err = number_of(db,
                    "select (pg_encoding_to_char(encoding) = 'UTF8')::int from pg_database "
                    "where datname = current_database()",
                    &version);
    if (err)
        return err;
    if (!version) {
        snprintf(db->why, sizeof(db->why),
                 "the database is not in UTF-8: create one with encoding UTF8");
        return -EIO;
    }
    err = db_run(db, "begin");
    if (!err)
        err = db_run(db, "select pg_advisory_xact_lock(" LOCK_SCHEMA ")");
    if (!err)
        err =
            db_run(db, "create schema if not exists unblend; "
                       "create table if not exists unblend.migration (version integer primary key, "
                       "name text not null, applied_at timestamptz not null default now())");
    if (!err)
        err = number_of(db, "select coalesce(max(version), 0) from unblend.migration", &version);
    if (!err && version >= 0 && version < (long)schema_version)
        err = migrate(db, (unsigned)version);
    if (!err)
        err = db_run(db, "commit");
    if (err && db->conn) {
        char why[sizeof(db->why)];

        memcpy(why, db->why, sizeof(why));
        if (db_run(db, "rollback"))
            db_close(db);
        memcpy(db->why, why, sizeof(why));
    }
    return err;
}
