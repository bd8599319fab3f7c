/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/database_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/database_batch.h"
#include "lib/log.h"
#include "lib/result.h"

/*
 * The queries of a group are asked one after the other, each when the answer to the one before has come: intervals
 * name what the others ask for, and so libpq needs no pipeline. Answers wait in the socket, which holds some hundred
 * batches' rows, so it is emptied while batches are handed out.
 */

#define GROUP_TEXT    "4096"
#define GROUP_RECORDS 100000 /* a group ends with the batch that brings it there */
#define RECEIVE_EACH  16     /* batches */

enum step { STEP_INTERVALS, STEP_JOBS, STEP_VOLUMES, STEP_SAMPLES, STEP_FLOWS, STEP_STORAGE, STEP_READY, STEP_END };

struct group {
    PGresult *intervals; /* of which these rows are its own; groups of the same one follow each other */
    const char *suffix;
    int from, to;
    struct database_rows rows;
};

struct database_reader {
    PGconn *conn;
    const struct database_piece *pieces;
    unsigned piece_count, piece; /* the one that is read */
    PGresult *intervals;         /* fetched last */
    int row;                     /* of intervals, the first that is not in a group yet */
    struct group now, ahead;     /* what is handed out, and what is asked for */
    enum step step;              /* of the latter: what has not come yet */
    unsigned handed;             /* batches */
    struct json_cache cache;
};

static int failed(struct database_reader *reader)
{
    const char *why = PQerrorMessage(reader->conn);

    log_error("cannot read the database: %.*s: check --db, and that a collector has set it up",
              (int)strcspn(why, "\n"), why);
    reader->step = STEP_END;
    return -EIO;
}

static int without_memory(struct database_reader *reader)
{
    log_error("cannot read the database: %s", log_why(-ENOMEM));
    reader->step = STEP_END;
    return -ENOMEM;
}

static void group_clear(struct database_reader *reader, struct group *group)
{
    if (group->intervals != reader->intervals)
        PQclear(group->intervals);
    database_rows_clear(&group->rows);
    *group = (struct group){0};
}

/* Each query is short and there are many, so what is compiled or started for one costs more than it brings; and who
   reads has the other processor. */
static int plan_plainly(struct database_reader *reader)
{
    _cleanup_result_ PGresult *result =
        PQexec(reader->conn, "set local jit = off; set local max_parallel_workers_per_gather = 0");

    return PQresultStatus(result) == PGRES_COMMAND_OK ? 0 : failed(reader);
}

/* timestamptz is cut to us, so the bounds of time are inclusive, and those of start_ns decide. The time of a row of a
   rollup is that of its minute or hour, in which its first interval may have begun later. */
static int open_cursor(struct database_reader *reader, unsigned piece, const char *nodes)
{
    static const char format[] =
        "declare interval_cursor%u no scroll cursor for select " DATABASE_INTERVAL_COLUMNS
        " from unblend.intervals%s where time between unblend.timestamp_of($1) - interval '%s' "
        "and unblend.timestamp_of($2) "
        "and start_ns >= $1 and start_ns < $2 "
        "and ($3::json is null or node in (select json_array_elements_text($3::json))) order by time, batch_id";
    const char *suffix = reader->pieces[piece].suffix;
    const char *unit = !*suffix ? "0" : strcmp(suffix, "_1m") == 0 ? "1 minute" : "1 hour";
    char since[24], until[24], sql[2048];
    const char *values[] = {since, until, nodes};
    _cleanup_result_ PGresult *result = NULL;

    snprintf(since, sizeof(since), "%" PRId64, reader->pieces[piece].since_ns);
    snprintf(until, sizeof(until), "%" PRId64, reader->pieces[piece].until_ns);
    snprintf(sql, sizeof(sql), format, piece, suffix, unit);
    result = PQexecParams(reader->conn, sql, 3, NULL, values, NULL, NULL, 0);
    return PQresultStatus(result) == PGRES_COMMAND_OK ? 0 : failed(reader);
}

static int ask_intervals(struct database_reader *reader)
{
    char sql[80];

    snprintf(sql, sizeof(sql), "fetch forward " GROUP_TEXT " from interval_cursor%u", reader->piece);
    return PQsendQueryParams(reader->conn, sql, 0, NULL, NULL, NULL, NULL, 0) ? 0 : failed(reader);
}

/* What the group refers to, of one kind. */
static int ask_rows(struct database_reader *reader)
{
    static const char *const queries[] = {
        [STEP_JOBS] = DATABASE_JOBS, [STEP_VOLUMES] = DATABASE_VOLUMES, [STEP_SAMPLES] = DATABASE_SAMPLES("%s"),
        [STEP_FLOWS] = DATABASE_FLOWS, [STEP_STORAGE] = DATABASE_STORAGE};
    const struct group *group = &reader->ahead;
    bool named = reader->step == STEP_JOBS || reader->step == STEP_VOLUMES;
    int column = reader->step == STEP_JOBS      ? DATABASE_JOB_IDS
                 : reader->step == STEP_VOLUMES ? DATABASE_VOLUME_IDS
                                                : DATABASE_BATCH_ID;
    _cleanup_free_ char *ids = database_ids(group->intervals, column, group->from, group->to);
    const char *span[] = {PQgetvalue(group->intervals, group->from, DATABASE_TIME),
                          PQgetvalue(group->intervals, group->to - 1, DATABASE_TIME), ids};
    char sql[1024];

    if (!ids)
        return without_memory(reader);
    snprintf(sql, sizeof(sql), reader->step == STEP_SAMPLES ? queries[STEP_SAMPLES] : "%s",
             reader->step == STEP_SAMPLES ? group->suffix : queries[reader->step]);
    return PQsendQueryParams(reader->conn, sql, named ? 1 : 3, NULL, named ? span + 2 : span, NULL, NULL, 1)
               ? 0
               : failed(reader);
}

/* The group after the one that is handed out: the next rows of the intervals that are there, or of new ones. */
static int begin_group(struct database_reader *reader)
{
    struct group *group = &reader->ahead;
    int64_t records = 0;

    if (!reader->intervals || reader->row == PQntuples(reader->intervals)) {
        reader->step = STEP_INTERVALS;
        return ask_intervals(reader);
    }
    *group = (struct group){.intervals = reader->intervals, .from = reader->row};
    group->suffix = reader->pieces[reader->piece].suffix;
    while (reader->row < PQntuples(reader->intervals) && records < GROUP_RECORDS)
        records += result_number(reader->intervals, reader->row++, DATABASE_RECORDS);
    group->to = reader->row;
    reader->step = STEP_JOBS;
    return ask_rows(reader);
}

static int take_intervals(struct database_reader *reader, PGresult *result)
{
    if (reader->now.intervals != reader->intervals)
        PQclear(reader->intervals);
    reader->intervals = result;
    reader->row = 0;
    if (PQntuples(result) || ++reader->piece < reader->piece_count)
        return begin_group(reader);
    reader->step = STEP_END;
    return 0;
}

/* Takes over an answer, and asks what comes next. */
static int take(struct database_reader *reader, PGresult *result)
{
    struct database_rows *rows = &reader->ahead.rows;
    PGresult **const places[] = {[STEP_JOBS] = &rows->jobs, [STEP_VOLUMES] = &rows->volumes,
                                 [STEP_SAMPLES] = &rows->samples.result, [STEP_FLOWS] = &rows->flows.result,
                                 [STEP_STORAGE] = &rows->storage};
    int err = 0;

    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        PQclear(result);
        return failed(reader);
    }
    if (reader->step == STEP_INTERVALS)
        return take_intervals(reader, result);
    *places[reader->step] = result;
    if (reader->step == STEP_SAMPLES || reader->step == STEP_FLOWS)
        err = database_list_order(reader->step == STEP_SAMPLES ? &rows->samples : &rows->flows);
    if (err)
        return without_memory(reader);
    reader->step++;
    if (reader->step == STEP_FLOWS && *reader->ahead.suffix)
        reader->step = STEP_READY; /* rollups have samples alone */
    return reader->step == STEP_READY ? 0 : ask_rows(reader);
}

/* Something has come that was not read yet: libpq reads some 16 KB at once, the socket holds more, and the database
   waits while it is full. */
static bool readable(const struct database_reader *reader)
{
    struct pollfd socket = {.fd = PQsocket(reader->conn), .events = POLLIN};

    return poll(&socket, 1, 0) > 0;
}

/* Receives what has come, or, if it may wait, all that was asked for. A statement has one result, and NULL behind
   it. */
static int receive(struct database_reader *reader, bool wait)
{
    int err = 0;

    while (!err && reader->step < STEP_READY) {
        PGresult *result;

        if (!wait && !PQconsumeInput(reader->conn))
            return failed(reader);
        if (!wait && PQisBusy(reader->conn)) {
            if (readable(reader))
                continue;
            return 0;
        }
        result = PQgetResult(reader->conn);
        PQclear(PQgetResult(reader->conn));
        err = take(reader, result);
    }
    return err;
}

/* 1 with a group, 0 at the end, or -errno (logged). */
static int next_group(struct database_reader *reader)
{
    int err = receive(reader, true);

    group_clear(reader, &reader->now);
    if (err || reader->step != STEP_READY)
        return err;
    reader->now = reader->ahead;
    reader->ahead = (struct group){0};
    err = begin_group(reader);
    return err ? err : 1;
}

int database_reader_next(struct database_reader *reader, struct batch **out)
{
    struct group *group = &reader->now;
    int err = 0;

    if (group->from == group->to) {
        int got = next_group(reader);

        if (got != 1)
            return got;
    }
    if (++reader->handed % RECEIVE_EACH == 0)
        err = receive(reader, false);
    if (err)
        return err;
    err = database_batch(group->intervals, group->from, &group->rows, &reader->cache, out);
    if (err) {
        log_error("cannot read the database: batch %s: %s: restore it from a backup",
                  PQgetvalue(group->intervals, group->from, DATABASE_BATCH_ID), log_errno(err));
        return err;
    }
    (*out)->rolled = *group->suffix != '\0';
    group->from++;
    return 1;
}

int database_reader_wait(struct database_reader *reader)
{
    return receive(reader, true);
}

void database_reader_free(struct database_reader *reader)
{
    PGresult *result;

    if (!reader)
        return;
    while ((result = PQgetResult(reader->conn)))
        PQclear(result);
    group_clear(reader, &reader->now);
    group_clear(reader, &reader->ahead);
    PQclear(reader->intervals);
    json_cache_clear(&reader->cache);
    free(reader);
}

int database_reader_new(PGconn *conn, const struct database_piece *pieces, unsigned count, const char *nodes,
                        struct database_reader **out)
{
    struct database_reader *reader = calloc(1, sizeof(*reader));
    int err = 0;

    if (!reader) {
        log_error("cannot read the database: %s", log_why(-ENOMEM));
        return -ENOMEM;
    }
    reader->conn = conn;
    reader->pieces = pieces;
    reader->piece_count = count;
    err = plan_plainly(reader);
    for (unsigned i = 0; !err && i < count; i++)
        err = open_cursor(reader, i, nodes);
    if (!err)
        err = begin_group(reader);
    if (err) {
        database_reader_free(reader);
        return err;
    }
    *out = reader;
    return 0;
}
