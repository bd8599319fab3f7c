/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <jansson.h>
#include <libpq-fe.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/database_batch.h"
#include "lib/cleanup.h"
#include "lib/log.h"

/*
 * Where raw rows were dropped, those of minutes and hours stand for them: a span of time is read in up to three pieces,
 * each from the finest tier that has all of it.
 *
 * Intervals come through a cursor in the order of time; for a group of them the samples, jobs and
 * volumes are then asked for at once. One read-only transaction gives one picture, and memory holds
 * a group.
 */

#define GROUP_BATCHES 1024
#define GROUP_TEXT    "1024"
#define GROUP_RECORDS 100000 /* a group ends with the batch that brings it there */

#define PIECES 3

struct piece {
    const char *suffix; /* of the views */
    int64_t since_ns, until_ns;
};

struct database {
    struct source source; /* first: it is what the caller holds */
    const struct source_window *window;
    PGconn *conn;
    char *nodes; /* those that are asked for, as a JSON array; NULL: all */
    struct piece pieces[PIECES];
    unsigned piece; /* the one whose cursor is open */
    PGresult *intervals; /* fetched; NULL before the first time */
    int row;             /* of intervals, the first that is not in a group yet */
    struct batch *group[GROUP_BATCHES];
    int count, next; /* batches of the group, and how many of them are handed out */
    int64_t first_ns, now_ns; /* of the first batch, and of the last one that was handed out */
    int64_t last_ns;          /* of all there is; 0: nobody has asked yet */
    PGresult *drops; /* told with the first batch; NULL afterwards */
};

/* Runs a statement; text parameters, results as text or binary. 0 or -errno (logged). */
static int query(struct database *db, const char *sql, int count, const char *const *values,
                 bool binary, PGresult **out)
{
    PGresult *result = PQexecParams(db->conn, sql, count, NULL, values, NULL, NULL, binary);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        const char *why = PQerrorMessage(db->conn);

        log_error("cannot read the database: %.*s: check --db, and that a collector has set it up",
                  (int)strcspn(why, "\n"), why);
        PQclear(result);
        return -EIO;
    }
    *out = result;
    return 0;
}

static int run(struct database *db, const char *sql)
{
    PGresult *result;
    int err = query(db, sql, 0, NULL, false, &result);

    if (!err)
        PQclear(result);
    return err;
}

/* The names of nodes that the window asks for, as a JSON array; malloc'ed. */
static int asked_nodes(struct database *db, const char *glob, char **out)
{
    _cleanup_(result_clearp) PGresult *result = NULL;
    json_auto_t *names = json_array();
    int err = query(db, "select distinct node from unblend.nodes", 0, NULL, false, &result);

    if (err)
        return err;
    for (int i = 0; i < PQntuples(result); i++)
        if (fnmatch(glob, PQgetvalue(result, i, 0), 0) == 0 &&
            json_array_append_new(names, json_string(PQgetvalue(result, i, 0))))
            return -ENOMEM;
    *out = json_dumps(names, JSON_COMPACT);
    return *out ? 0 : -ENOMEM;
}

/* timestamptz is cut to us, so the bounds of time are inclusive, and those of start_ns decide. */
static int open_cursor(struct database *db)
{
    static const char format[] =
        "declare interval_cursor no scroll cursor for select " DATABASE_INTERVAL_COLUMNS
        " from unblend.intervals%s "
        "where time between unblend.timestamp_of($1) and unblend.timestamp_of($2) "
        "and start_ns >= $1 and start_ns < $2 "
        "and ($3::json is null or node in (select json_array_elements_text($3::json))) "
        "order by time, batch_id";
    const struct piece *piece = &db->pieces[db->piece];
    _cleanup_(result_clearp) PGresult *result = NULL;
    char since[24], until[24], sql[2048];
    const char *values[] = {since, until, db->nodes};

    snprintf(since, sizeof(since), "%" PRId64, piece->since_ns);
    snprintf(until, sizeof(until), "%" PRId64, piece->until_ns);
    snprintf(sql, sizeof(sql), format, piece->suffix);
    return query(db, sql, 3, values, false, &result);
}

static int64_t at_most(int64_t ns, int64_t limit)
{
    return ns < limit ? ns : limit;
}

/* Which tier has what of the window. A window inside a span that was kept is read as it was. */
static int cut_pieces(struct database *db)
{
    static const char sql[] =
        "select "
        "coalesce((select (extract(epoch from since) * 1000000)::bigint from unblend.tiers where tier = 'raw'), 0), "
        "coalesce((select (extract(epoch from since) * 1000000)::bigint from unblend.tiers where tier = '1m'), 0), "
        "exists (select from unblend.kept_spans where since <= unblend.timestamp_of($1) "
        "and until >= unblend.timestamp_of($2))";
    const struct source_window *window = db->window;
    int64_t since_ns = window && window->since_ns > 0 ? window->since_ns : 0;
    int64_t until_ns = window ? window->until_ns : INT64_MAX, raw_ns, minute_ns;
    _cleanup_(result_clearp) PGresult *result = NULL;
    char since[24], until[24];
    const char *values[] = {since, until};
    int err;

    snprintf(since, sizeof(since), "%" PRId64, since_ns);
    snprintf(until, sizeof(until), "%" PRId64, until_ns);
    err = query(db, sql, 2, values, false, &result);
    if (err)
        return err;
    raw_ns = strtoll(PQgetvalue(result, 0, 0), NULL, 10) * 1000;
    minute_ns = at_most(strtoll(PQgetvalue(result, 0, 1), NULL, 10) * 1000, raw_ns);
    if (*PQgetvalue(result, 0, 2) == 't')
        raw_ns = minute_ns = 0;
    raw_ns = at_most(raw_ns > since_ns ? raw_ns : since_ns, until_ns);
    minute_ns = at_most(minute_ns > since_ns ? minute_ns : since_ns, raw_ns);
    db->pieces[0] = (struct piece){"_1h", since_ns, minute_ns};
    db->pieces[1] = (struct piece){"_1m", minute_ns, raw_ns};
    db->pieces[2] = (struct piece){"", raw_ns, until_ns};
    while (db->piece < PIECES - 1 && db->pieces[db->piece].since_ns >= db->pieces[db->piece].until_ns)
        db->piece++;
    return 0;
}

/* Batches that never came, of the nodes and the time that the window asks for. */
static int find_drops(struct database *db)
{
    static const char sql[] =
        "select stream, first_seq, last_seq, ops, coalesce(start_ns, 0), coalesce(end_ns, 0), why from unblend.drops "
        "where coalesce(start_ns < $2 and end_ns > $1, told_at between unblend.timestamp_of($1) and "
        "unblend.timestamp_of($2)) and ($3::json is null or node in (select json_array_elements_text($3::json))) "
        "order by told_at, stream, first_seq";
    const struct source_window *window = db->window;
    _cleanup_free_ char *nodes = NULL;
    char since[24], until[24];
    const char *values[] = {since, until, NULL};
    int err = 0;

    snprintf(since, sizeof(since), "%" PRId64, window && window->since_ns > 0 ? window->since_ns : 0);
    snprintf(until, sizeof(until), "%" PRId64, window ? window->until_ns : INT64_MAX);
    if (window && window->node)
        err = asked_nodes(db, window->node, &nodes);
    values[2] = nodes;
    return err ? err : query(db, sql, 3, values, false, &db->drops);
}

/* Whichever batch comes first says it: what counts is that it is said, and once. */
static int tell_drops(struct database *db, struct batch *batch)
{
    _cleanup_(result_clearp) PGresult *rows = take_pointer(db->drops);
    int count = rows ? PQntuples(rows) : 0;
    _cleanup_free_ struct dropped *dropped = calloc((size_t)count + 1, sizeof(*dropped));

    if (!dropped)
        return -ENOMEM;
    for (int i = 0; i < count; i++)
        dropped[i] = (struct dropped){
            .stream = PQgetvalue(rows, i, 0),
            .first = strtoull(PQgetvalue(rows, i, 1), NULL, 10),
            .last = strtoull(PQgetvalue(rows, i, 2), NULL, 10),
            .ops = PQgetisnull(rows, i, 3) ? DROPPED_UNKNOWN : strtoull(PQgetvalue(rows, i, 3), NULL, 10),
            .start_ns = strtoll(PQgetvalue(rows, i, 4), NULL, 10),
            .end_ns = strtoll(PQgetvalue(rows, i, 5), NULL, 10),
            .why = PQgetvalue(rows, i, 6),
        };
    return count ? batch_dropped(batch, dropped, (uint32_t)count) : 0;
}

static void rows_clear(struct database_rows *rows)
{
    PQclear(rows->jobs);
    PQclear(rows->volumes);
    PQclear(rows->samples);
    PQclear(rows->flows);
    PQclear(rows->storage);
}

/* What the group's batches refer to, and their samples, in one query each. Rows [from, to) of
 * intervals. */
static int fill_group(struct database *db, int from, int to)
{
    const PGresult *intervals = db->intervals;
    _cleanup_(rows_clear) struct database_rows rows = {0};
    _cleanup_free_ char *job_ids = database_ids(intervals, DATABASE_JOB_IDS, from, to);
    _cleanup_free_ char *volume_ids = database_ids(intervals, DATABASE_VOLUME_IDS, from, to);
    _cleanup_free_ char *batch_ids = database_ids(intervals, DATABASE_BATCH_ID, from, to);
    const char *values[3] = {job_ids};
    const char *suffix = db->pieces[db->piece].suffix;
    char samples_sql[1024];
    int err;

    snprintf(samples_sql, sizeof(samples_sql), DATABASE_SAMPLES("%s"), suffix);
    if (!job_ids || !volume_ids || !batch_ids)
        return -ENOMEM;
    err = query(db, DATABASE_JOBS, 1, values, false, &rows.jobs);
    if (err)
        return err;
    values[0] = volume_ids;
    err = query(db, DATABASE_VOLUMES, 1, values, false, &rows.volumes);
    if (err)
        return err;
    values[0] = PQgetvalue(intervals, from, DATABASE_TIME);
    values[1] = PQgetvalue(intervals, to - 1, DATABASE_TIME);
    values[2] = batch_ids;
    err = query(db, samples_sql, 3, values, true, &rows.samples);
    if (!err && !*suffix)
        err = query(db, DATABASE_FLOWS, 3, values, true, &rows.flows);
    if (!err)
        err = query(db, DATABASE_STORAGE, 3, values, false, &rows.storage);
    for (int i = from; !err && i < to; i++) {
        err = database_batch(intervals, i, &rows, &db->group[db->count]);
        if (!err)
            db->count++;
        else
            log_error("cannot read the database: batch %s: %s: restore it from a backup",
                      PQgetvalue(intervals, i, DATABASE_BATCH_ID), log_errno(err));
    }
    return err;
}

/* 1 with a group, 0 at the end, or -errno (logged). */
static int next_group(struct database *db)
{
    int64_t records = 0;
    int from, err;

    db->count = db->next = 0;
    if (!db->intervals || db->row == PQntuples(db->intervals)) {
        PQclear(db->intervals);
        db->intervals = NULL;
        db->row = 0;
        err = query(db, "fetch forward " GROUP_TEXT " from interval_cursor", 0, NULL, false, &db->intervals);
        if (err)
            return err;
    }
    if (!PQntuples(db->intervals) && db->piece < PIECES - 1) {
        db->piece++;
        err = run(db, "close interval_cursor");
        if (!err)
            err = open_cursor(db);
        return err ? err : next_group(db);
    }
    from = db->row;
    while (db->row < PQntuples(db->intervals) && records < GROUP_RECORDS)
        records += strtoll(PQgetvalue(db->intervals, db->row++, DATABASE_RECORDS), NULL, 10);
    if (from == db->row)
        return 0;
    err = fill_group(db, from, db->row);
    return err ? err : 1;
}

static int database_next(struct source *source, struct batch **out)
{
    struct database *db = (struct database *)source;

    for (;;) {
        struct batch *batch;
        int err;

        if (db->next == db->count) {
            int got = next_group(db);

            if (got != 1)
                return got;
            continue;
        }
        batch = take_pointer(db->group[db->next]);
        db->next++;
        err = source_filter(db->window, batch);
        if (err == 1 && db->drops && tell_drops(db, batch))
            err = -ENOMEM;
        if (err == 1) {
            db->now_ns = batch->start_ns;
            if (!db->first_ns)
                db->first_ns = db->now_ns;
            *out = batch;
            return 1;
        }
        batch_free(batch);
        if (err < 0) {
            log_error("cannot read the database: %s", log_errno(err));
            return err;
        }
    }
}

/* When the last batch began that the window can have, of any node; clocks may run ahead. */
static int find_last(struct database *db)
{
    static const char sql[] = "select coalesce((extract(epoch from least(now(), greatest("
                              "(select max(time) from unblend.intervals where time <= unblend.timestamp_of($1)), "
                              "(select max(time) from unblend.intervals_1m where time <= unblend.timestamp_of($1)), "
                              "(select max(time) from unblend.intervals_1h where time <= unblend.timestamp_of($1))))) "
                              "* 1000000)::bigint, 0)";
    char until[24];
    const char *values[] = {until};
    _cleanup_(result_clearp) PGresult *result = NULL;
    int err;

    snprintf(until, sizeof(until), "%" PRId64, db->window ? db->window->until_ns : INT64_MAX);
    err = query(db, sql, 1, values, false, &result);
    if (!err)
        db->last_ns = strtoll(PQgetvalue(result, 0, 0), NULL, 10) * 1000;
    return err;
}

/* Of the span of time. Whoever does not ask spares the database a question. */
static double database_share(struct source *source)
{
    struct database *db = (struct database *)source;

    if (!db->last_ns && (find_last(db) || !db->last_ns))
        db->last_ns = 1;
    if (!db->first_ns || db->last_ns <= db->first_ns)
        return NAN;
    return fmax(0, fmin((double)(db->now_ns - db->first_ns) / (double)(db->last_ns - db->first_ns), 1));
}

static void database_free(struct source *source)
{
    struct database *db = (struct database *)source;

    for (int i = db->next; i < db->count; i++)
        batch_free(db->group[i]);
    PQclear(db->intervals);
    PQclear(db->drops);
    PQfinish(db->conn);
    free(db->nodes);
    free(db);
}

int source_database(const char *conninfo, const struct source_window *window, struct source **out)
{
    struct database *db = calloc(1, sizeof(*db));
    int err;

    if (!db) {
        log_error("cannot read the database: %s", log_errno(-ENOMEM));
        return -ENOMEM;
    }
    db->source = (struct source){.next = database_next, .free = database_free, .share = database_share};
    db->window = window;
    db->conn = PQconnectdb(conninfo);
    if (PQstatus(db->conn) != CONNECTION_OK) {
        const char *why = PQerrorMessage(db->conn);

        log_error("cannot connect to the database: %.*s: check --db", (int)strcspn(why, "\n"), why);
        err = -ECONNREFUSED;
    } else {
        err = run(db, "set client_encoding = 'UTF8'");
        if (!err)
            err = run(db, "set timezone = 'UTC'");
        if (!err)
            err = run(db, "begin isolation level repeatable read read only");
        if (!err && window && window->node)
            err = asked_nodes(db, window->node, &db->nodes);
        if (!err)
            err = cut_pieces(db);
        if (!err)
            err = open_cursor(db);
        if (!err)
            err = find_drops(db);
    }
    if (err) {
        database_free(&db->source);
        return err;
    }
    *out = &db->source;
    return 0;
}
