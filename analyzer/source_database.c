/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"
#include "analyzer/source_doubt.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <jansson.h>
#include <libpq-fe.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "lib/cleanup.h"
#include "lib/database_batch.h"
#include "lib/database_reader.h"
#include "lib/log.h"
#include "lib/result.h"

/*
 * Where raw rows were dropped, those of minutes and hours stand for them: a span of time is read in up to three pieces,
 * each from the finest tier that has all of it. One read-only transaction gives one picture.
 */

#define PIECES 3

struct database {
    struct source source; /* first: it is what the caller holds */
    const struct source_window *window;
    PGconn *conn;
    char *nodes; /* those that are asked for, as a JSON array; NULL: all */
    struct database_piece pieces[PIECES];
    struct database_reader *reader;
    int64_t first_ns, now_ns; /* of the first batch, and of the last one that was handed out */
    int64_t last_ns;          /* of all there is; 0: nobody has asked yet */
    struct doubts doubts;
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
    _cleanup_result_ PGresult *result = NULL;
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
    _cleanup_result_ PGresult *result = NULL;
    char since[24], until[24];
    const char *values[] = {since, until};
    int err;

    snprintf(since, sizeof(since), "%" PRId64, since_ns);
    snprintf(until, sizeof(until), "%" PRId64, until_ns);
    err = query(db, sql, 2, values, false, &result);
    if (err)
        return err;
    raw_ns = result_number(result, 0, 0) * 1000;
    minute_ns = at_most(result_number(result, 0, 1) * 1000, raw_ns);
    if (*PQgetvalue(result, 0, 2) == 't')
        raw_ns = minute_ns = 0;
    raw_ns = at_most(raw_ns > since_ns ? raw_ns : since_ns, until_ns);
    minute_ns = at_most(minute_ns > since_ns ? minute_ns : since_ns, raw_ns);
    db->pieces[0] = (struct database_piece){"_1h", since_ns, minute_ns};
    db->pieces[1] = (struct database_piece){"_1m", minute_ns, raw_ns};
    db->pieces[2] = (struct database_piece){"", raw_ns, until_ns};
    return 0;
}

static int start_reading(struct database *db)
{
    unsigned first = 0;

    while (first < PIECES - 1 && db->pieces[first].since_ns >= db->pieces[first].until_ns)
        first++;
    return database_reader_new(db->conn, &db->pieces[first], PIECES - first, db->nodes, &db->reader);
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
    _cleanup_result_ PGresult *rows = take_pointer(db->drops);
    int count = rows ? PQntuples(rows) : 0;
    uint32_t known = batch->coverage.dropped_count;
    _cleanup_free_ struct dropped *dropped = calloc((size_t)count + known + 1, sizeof(*dropped));

    if (!dropped)
        return -ENOMEM;
    for (uint32_t i = 0; i < known; i++)
        dropped[count + (int)i] = batch->coverage.dropped[i];
    for (int i = 0; i < count; i++)
        dropped[i] = (struct dropped){
            .stream = PQgetvalue(rows, i, 0),
            .first = strtoull(PQgetvalue(rows, i, 1), NULL, 10),
            .last = strtoull(PQgetvalue(rows, i, 2), NULL, 10),
            /* earlier collectors wrote some below 0 */
            .ops = PQgetisnull(rows, i, 3) ? DROPPED_UNKNOWN : (uint64_t)MAX(result_number(rows, i, 3), 0),
            .start_ns = result_number(rows, i, 4),
            .end_ns = result_number(rows, i, 5),
            .why = PQgetvalue(rows, i, 6),
        };
    return count ? batch_dropped(batch, dropped, (uint32_t)count + known) : 0;
}

static int database_next(struct source *source, struct batch **out)
{
    struct database *db = (struct database *)source;

    for (;;) {
        struct batch *batch;
        int err = database_reader_next(db->reader, &batch);

        if (err != 1)
            return err;
        err = doubts_look(&db->doubts, batch);
        if (!err)
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
            log_error("cannot read the database: %s", log_why(err));
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
    _cleanup_result_ PGresult *result = NULL;
    int err;

    snprintf(until, sizeof(until), "%" PRId64, db->window ? db->window->until_ns : INT64_MAX);
    err = query(db, sql, 1, values, false, &result);
    if (!err)
        db->last_ns = result_number(result, 0, 0) * 1000;
    return err;
}

/* Of the span of time. Whoever does not ask spares the database a question. */
static double database_share(struct source *source)
{
    struct database *db = (struct database *)source;

    if (!db->last_ns && (database_reader_wait(db->reader) || find_last(db) || !db->last_ns))
        db->last_ns = 1;
    if (!db->first_ns || db->last_ns <= db->first_ns)
        return NAN;
    return fmax(0, fmin((double)(db->now_ns - db->first_ns) / (double)(db->last_ns - db->first_ns), 1));
}

static void database_free(struct source *source)
{
    struct database *db = (struct database *)source;

    database_reader_free(db->reader);
    doubts_clear(&db->doubts);
    PQclear(db->drops);
    PQfinish(db->conn);
    free(db->nodes);
    free(db);
}

/* What the server says beside its answers comes again as the cause of what fails. */
static void ignore(void *data, const char *message)
{
}

int source_database(const char *conninfo, const struct source_window *window, struct source **out)
{
    struct database *db = calloc(1, sizeof(*db));
    int err;

    if (!db) {
        log_error("cannot read the database: %s", log_why(-ENOMEM));
        return -ENOMEM;
    }
    db->source = (struct source){.next = database_next, .free = database_free, .share = database_share};
    db->window = window;
    db->conn = PQconnectdb(conninfo);
    PQsetNoticeProcessor(db->conn, ignore, NULL);
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
            err = find_drops(db);
        if (!err)
            err = start_reading(db);
    }
    if (err) {
        database_free(&db->source);
        return err;
    }
    *out = &db->source;
    return 0;
}

int source_newest(const char *conninfo, int64_t until_ns, int64_t *start_ns)
{
    const struct source_window window = {.since_ns = until_ns - 1, .until_ns = until_ns};
    struct source *source;
    struct database *db;
    int err = source_database(conninfo, &window, &source);

    if (err)
        return err;
    db = (struct database *)source;
    err = database_reader_wait(db->reader);
    if (!err)
        err = find_last(db);
    if (!err)
        *start_ns = db->last_ns < until_ns ? db->last_ns : 0; /* of none it is the present */
    source->free(source);
    return err;
}
