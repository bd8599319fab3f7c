/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/locks.h"

static int number_of(struct db *db, const char *sql, long *out)
{
    _cleanup_result_ PGresult *result = NULL;
    int err = db_query(db, sql, NULL, &result);

    if (!err)
        *out = result_number(result, 0, 0);
    return err;
}

/* What has been applied, a name a row. */
static int applied(struct db *db, PGresult **out)
{
    return db_query(db, "select name from unblend.migration", NULL, out);
}

static bool among(const PGresult *names, const char *name)
{
    for (int row = 0; row < PQntuples(names); row++)
        if (!strcmp(PQgetvalue(names, row, 0), name))
            return true;
    return false;
}

static unsigned how_many_of_ours(const PGresult *names)
{
    unsigned count = 0;

    for (unsigned i = 0; i < schema_migration_count; i++)
        count += among(names, schema_migrations[i].name);
    return count;
}

int schema_check(struct db *db)
{
    _cleanup_result_ PGresult *names = NULL;
    int err = applied(db, &names);
    unsigned ours;

    if (err == -ENOENT)
        snprintf(db->why, sizeof(db->why),
                 "the database has no schema unblend: run unblend-collector init-db");
    if (err)
        return err;
    ours = how_many_of_ours(names);
    if ((unsigned)PQntuples(names) > ours)
        snprintf(db->why, sizeof(db->why),
                 "the schema has %u steps that this program does not know: install the newer Unblend",
                 (unsigned)PQntuples(names) - ours);
    else if (ours < schema_migration_count)
        snprintf(db->why, sizeof(db->why), "the schema lacks %u of %u steps: run unblend-collector init-db",
                 schema_migration_count - ours, schema_migration_count);
    else
        return 0;
    return -ENOENT;
}

/*
 * The steps that are missing, in the order of their names, inside the caller's transaction. They are known by name, not
 * by how many there are: one may come to stand between two others.
 */
static int migrate(struct db *db)
{
    _cleanup_result_ PGresult *names = NULL;
    int err = applied(db, &names);

    if (err)
        return err;
    if ((unsigned)PQntuples(names) > how_many_of_ours(names))
        return schema_check(db); /* which says why not */
    for (unsigned i = 0; i < schema_migration_count && !err; i++) {
        struct db_args args = {.count = 0};

        if (among(names, schema_migrations[i].name))
            continue;
        err = db_run(db, schema_migrations[i].sql);
        db_text(&args, schema_migrations[i].name);
        if (!err)
            err = db_query(db, "insert into unblend.migration (version, name) "
                               "select coalesce(max(version), 0) + 1, $1 from unblend.migration",
                           &args, NULL);
    }
    return err;
}

int schema_apply(struct db *db)
{
    long utf8 = 0;
    int err = schema_check(db);

    if (err != -ENOENT)
        return err; /* there: then this takes no right to create anything */
    err = number_of(db,
                    "select (pg_encoding_to_char(encoding) = 'UTF8')::int from pg_database "
                    "where datname = current_database()",
                    &utf8);
    if (err)
        return err;
    if (!utf8) {
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
        err = migrate(db);
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
