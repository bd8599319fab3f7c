/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/db.h"
#include "lib/codec.h"
#include "lib/database_batch.h"
#include "lib/log.h"

#define GROUP "64" /* intervals read at once */

struct export {
    PGconn *conn;
    const struct outward *outward;
    struct bundle_writer *bundle;
    uint64_t count;
};

static int query(const struct export *export, const char *sql, int count, const char *const *values, bool binary,
                 PGresult **out)
{
    PGresult *result = PQexecParams(export->conn, sql, count, NULL, values, NULL, NULL, binary);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        log_error("cannot read the database: %.*s", (int)strcspn(PQerrorMessage(export->conn), "\n"),
                  PQerrorMessage(export->conn));
        PQclear(result);
        return -EIO;
    }
    *out = result;
    return 0;
}

static int run(const struct export *export, const char *sql, int count, const char *const *values)
{
    _cleanup_result_ PGresult *result = NULL;

    return query(export, sql, count, values, false, &result);
}

static void rows_clear(struct database_rows *rows)
{
    PQclear(rows->jobs);
    PQclear(rows->volumes);
    PQclear(rows->samples);
    PQclear(rows->flows);
    PQclear(rows->storage);
}

static int read_rows(const struct export *export, const PGresult *intervals, struct database_rows *rows)
{
    int count = PQntuples(intervals), err;
    _cleanup_free_ char *jobs = database_ids(intervals, DATABASE_JOB_IDS, 0, count);
    _cleanup_free_ char *volumes = database_ids(intervals, DATABASE_VOLUME_IDS, 0, count);
    _cleanup_free_ char *batches = database_ids(intervals, DATABASE_BATCH_ID, 0, count);
    const char *span[] = {PQgetvalue(intervals, 0, DATABASE_TIME), PQgetvalue(intervals, count - 1, DATABASE_TIME),
                          batches};

    if (!jobs || !volumes || !batches)
        return -ENOMEM;
    err = query(export, DATABASE_JOBS, 1, (const char *const[]){jobs}, false, &rows->jobs);
    if (!err)
        err = query(export, DATABASE_VOLUMES, 1, (const char *const[]){volumes}, false, &rows->volumes);
    if (!err)
        err = query(export, DATABASE_SAMPLES(""), 3, span, true, &rows->samples);
    if (!err)
        err = query(export, DATABASE_FLOWS, 3, span, true, &rows->flows);
    if (!err)
        err = query(export, DATABASE_STORAGE, 3, span, false, &rows->storage);
    return err;
}

static int add_batch(struct export *export, const PGresult *intervals, int row, const struct database_rows *rows)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    _cleanup_free_ char *json = NULL;
    size_t size;
    int err = database_batch(intervals, row, rows, &batch);

    if (!err)
        err = outward_apply(export->outward, batch);
    if (!err)
        err = codec_encode(batch, &json, &size);
    if (!err)
        err = bundle_add(export->bundle, json, size);
    if (err)
        log_error("cannot export batch %s: %s", PQgetvalue(intervals, row, DATABASE_BATCH_ID), log_errno(err));
    else
        export->count++;
    return err;
}

/* 1, 0 at the end, or -errno. */
static int add_group(struct export *export)
{
    _cleanup_result_ PGresult *intervals = NULL;
    _cleanup_(rows_clear) struct database_rows rows = {0};
    int err = query(export, "fetch " GROUP " from export_cursor", 0, NULL, false, &intervals);

    if (err || PQntuples(intervals) == 0)
        return err;
    err = read_rows(export, intervals, &rows);
    for (int i = 0; !err && i < PQntuples(intervals); i++)
        err = add_batch(export, intervals, i, &rows);
    return err ? err : 1;
}

int export_batches(struct store *store, int64_t since_ns, int64_t until_ns, const struct outward *outward,
                   struct bundle_writer *bundle, uint64_t *count)
{
    struct export export = {.outward = outward, .bundle = bundle};
    const struct db *db = store_db(store);
    char since[24], until[24];
    const char *const span[] = {since, until};
    int got;

    if (!db) {
        log_error("cannot export: %s", store_why(store));
        return -EAGAIN;
    }
    export.conn = db->conn;
    snprintf(since, sizeof(since), "%" PRId64, since_ns > 0 ? since_ns : 0);
    snprintf(until, sizeof(until), "%" PRId64, until_ns);
    got = run(&export, "begin isolation level repeatable read read only", 0, NULL);
    if (!got)
        got = run(&export,
                  "declare export_cursor no scroll cursor for select " DATABASE_INTERVAL_COLUMNS
                  " from unblend.intervals where time between unblend.timestamp_of($1) and unblend.timestamp_of($2) "
                  "and start_ns >= $1 and start_ns < $2 order by time, batch_id",
                  2, span);
    if (!got)
        do
            got = add_group(&export);
        while (got == 1);
    run(&export, "rollback", 0, NULL);
    if (!got)
        *count = export.count;
    return got;
}
