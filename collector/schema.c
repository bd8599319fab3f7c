/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Key of the advisory locks under which the schema changes: "unbl" in ASCII. */
#define LOCK_SCHEMA     "1970168428, 0"
#define LOCK_PARTITIONS "1970168428, 1"

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

/*
 * A day's partition is filled from the default one and attached, not created in place: that locks
 * the parent against nobody who writes, and works when rows of that day are already there.
 */
static int make_partition(struct db *db, const char *table, const char *day, const char *next_day)
{
    char name[64], sql[1024];

    snprintf(name, sizeof(name), "%s_%.4s%.2s%.2s", table, day, day + 5, day + 8);
    snprintf(sql, sizeof(sql),
             "begin; lock table only unblend.%s in share update exclusive mode; "
             "lock table unblend.%s_default in access exclusive mode; "
             "create table unblend.%s (like unblend.%s including defaults including constraints); "
             "with moved as (delete from unblend.%s_default "
             "where time >= '%s 00:00Z' and time < '%s 00:00Z' returning *) "
             "insert into unblend.%s select * from moved; "
             "alter table unblend.%s attach partition unblend.%s "
             "for values from ('%s 00:00Z') to ('%s 00:00Z'); commit",
             table, table, name, table, table, day, next_day, name, table, name, day, next_day);
    return db_run(db, sql);
}

static int make_partitions(struct db *db, const char *table)
{
    _cleanup_result_ PGresult *days = NULL;
    char sql[1024];
    int err;

    snprintf(
        sql, sizeof(sql),
        "select day, day + 1 from ("
        "  select generate_series(current_date - 1, current_date + 7, '1 day')::date as day union "
        "  select distinct time::date from unblend.%s_default "
        "  where time between now() - interval '90 days' and now() + interval '8 days') as wanted "
        "where to_regclass('unblend.%s_' || to_char(day, 'YYYYMMDD')) is null order by day",
        table, table);
    err = db_query(db, sql, NULL, &days);
    for (int i = 0; !err && i < PQntuples(days); i++)
        err = make_partition(db, table, PQgetvalue(days, i, 0), PQgetvalue(days, i, 1));
    if (err && db->conn)
        db_close(db); /* and with it the transaction */
    return err;
}

int schema_partitions(struct db *db)
{
    long mine = 0;
    int err = number_of(db, "select pg_try_advisory_lock(" LOCK_PARTITIONS ")::int", &mine);

    if (err || !mine) /* another collector is at it */
        return err;
    err = make_partitions(db, "sample");
    if (!err)
        err = make_partitions(db, "flow");
    if (!err)
        err = make_partitions(db, "batch");
    if (!err)
        err = db_run(db, "select pg_advisory_unlock(" LOCK_PARTITIONS ")");
    return err;
}
