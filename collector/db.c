/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/db.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "lib/clock.h"

#define ANSWER_S   60 /* a server that is silent for longer is taken for dead */
#define COPY_CHUNK 65536
#define NAME_SIZE  24

/* Locks are waited for less long than answers, so that the server names the cause before we give
 * up. */
static const char session[] =
    "set client_encoding = 'UTF8'; set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = "
    "'hex'; "
    "set statement_timeout = '45s'; set lock_timeout = '20s'; set synchronous_commit = on; "
    "set client_min_messages = warning; set search_path = pg_catalog";

void db_text(struct db_args *args, const char *text)
{
    args->values[args->count] = text;
    args->lengths[args->count] = 0;
    args->formats[args->count++] = 0;
}

void db_number(struct db_args *args, int64_t number)
{
    char *text = args->numbers[args->count];

    snprintf(text, sizeof(args->numbers[0]), "%" PRId64, number);
    db_text(args, text);
}

void db_bytes(struct db_args *args, const void *data, size_t size)
{
    args->values[args->count] = data;
    args->lengths[args->count] = (int)size;
    args->formats[args->count++] = 1;
}

/* The first line of libpq's message: the rest is detail and hints. */
static void set_why(struct db *db, const char *message)
{
    snprintf(db->why, sizeof(db->why), "%.*s", (int)strcspn(message, "\n"), message);
}

/* Classes of SQLSTATE, longest prefix first. */
static int classify(const char *state)
{
    static const struct {
        const char *prefix;
        int err;
    } classes[] = {
        {"3F000", -ENOENT}, /* no such schema */
        {"42P01", -ENOENT}, /* no such table */
        {"42501", -EACCES}, /* not the owner, or no right */
        {"25006", -EAGAIN}, /* a standby: it may be promoted */
        {"55P03", -EAGAIN}, /* lock not available */
        /* 23514: the default partition has lost that day to one of its own while we waited for it
         */
        {"23514", -EDEADLK},
        {"40", -EDEADLK},
        {"08", -EAGAIN},
        {"53", -EAGAIN},
        {"57", -EAGAIN},
        {"58", -EAGAIN},
        {"22", -EINVAL},
    };

    for (unsigned i = 0; i < sizeof(classes) / sizeof(*classes); i++)
        if (strncmp(state, classes[i].prefix, strlen(classes[i].prefix)) == 0)
            return classes[i].err;
    return -EIO;
}

void db_close(struct db *db)
{
    PQfinish(db->conn);
    db->conn = NULL;
    memset(db->statements, 0, sizeof(db->statements));
}

static int lost(struct db *db, const char *why)
{
    set_why(db, why);
    db_close(db);
    return -EAGAIN;
}

/* The next result of what was sent, or NULL at the end; *out only on success. */
static int next_result(struct db *db, PGresult **out)
{
    int64_t deadline = monotonic_ms() + ANSWER_S * 1000;

    while (PQisBusy(db->conn)) {
        struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};
        int64_t left = deadline - monotonic_ms();

        if (left <= 0)
            return lost(db, "PostgreSQL does not answer");
        if (poll(&fd, 1, (int)left) < 0 && errno != EINTR)
            return lost(db, strerror(errno));
        if (!PQconsumeInput(db->conn))
            return lost(db, PQerrorMessage(db->conn));
    }
    *out = PQgetResult(db->conn);
    return 0;
}

static bool is_standby(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    return state && strcmp(state, "25006") == 0;
}

/* Takes all results of what was sent and keeps the last good one. */
static int finish(struct db *db, PGresult **out)
{
    _cleanup_result_ PGresult *kept = NULL;
    int err = 0;

    for (;;) {
        _cleanup_result_ PGresult *result = NULL;
        int failed = next_result(db, &result);
        ExecStatusType status;

        if (failed)
            return failed;
        if (!result)
            break;
        status = PQresultStatus(result);
        if (status == PGRES_COPY_IN) { /* the caller's turn */
            err = 0;
            break;
        }
        if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
            PQclear(kept);
            kept = take_pointer(result);
        } else if (!err) {
            const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
            const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

            set_why(db, text ? text : PQerrorMessage(db->conn));
            err = state ? classify(state) : -EAGAIN;
        }
        /* After a failover the old server may live on as a standby: the next connection finds who writes now. */
        if (PQstatus(db->conn) == CONNECTION_BAD || is_standby(result)) {
            db_close(db);
            return err ? err : -EAGAIN;
        }
    }
    if (!err && out)
        *out = take_pointer(kept);
    return err;
}

int db_fetch(struct db *db, const char *sql, PGresult **out)
{
    if (!db->conn)
        return -EAGAIN;
    if (!PQsendQuery(db->conn, sql))
        return lost(db, PQerrorMessage(db->conn));
    return finish(db, out);
}

int db_run(struct db *db, const char *sql)
{
    return db_fetch(db, sql, NULL);
}

/* FNV-1a, 64 bits: of some dozen texts of our own. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash | 1;
}

/* Prepares a statement when it comes the second time; the name stays empty for those that are not. */
static int prepare(struct db *db, const char *sql, char name[NAME_SIZE])
{
    uint64_t hash = hash_of(sql);
    struct db_statement *statement = db->statements;
    int err;

    *name = '\0';
    while (statement < db->statements + DB_STATEMENTS && statement->hash && statement->hash != hash)
        statement++;
    if (statement == db->statements + DB_STATEMENTS)
        return 0;
    if (!statement->hash) {
        statement->hash = hash;
        return 0;
    }
    snprintf(name, NAME_SIZE, "u%016" PRIx64, hash);
    if (statement->prepared)
        return 0;
    if (!PQsendPrepare(db->conn, name, sql, 0, NULL))
        return lost(db, PQerrorMessage(db->conn));
    err = finish(db, NULL);
    statement->prepared = !err;
    return err;
}

int db_query(struct db *db, const char *sql, const struct db_args *args, PGresult **out)
{
    static const struct db_args none;
    char name[NAME_SIZE] = "";
    int err;

    if (!args)
        args = &none;
    if (!db->conn)
        return -EAGAIN;
    err = args->count ? prepare(db, sql, name) : 0;
    if (err)
        return err;
    if (*name) {
        if (!PQsendQueryPrepared(db->conn, name, args->count, args->values, args->lengths, args->formats, 0))
            return lost(db, PQerrorMessage(db->conn));
        return finish(db, out);
    }
    if (!PQsendQueryParams(db->conn, sql, args->count, NULL, args->values, args->lengths,
                           args->formats, 0))
        return lost(db, PQerrorMessage(db->conn));
    return finish(db, out);
}

int db_copy(struct db *db, const char *sql, const void *data, size_t size)
{
    const char *from = data;
    int err = db_run(db, sql);

    if (err)
        return err;
    for (size_t at = 0; at < size; at += COPY_CHUNK) {
        size_t chunk = size - at < COPY_CHUNK ? size - at : COPY_CHUNK;

        if (PQputCopyData(db->conn, from + at, (int)chunk) != 1)
            return lost(db, PQerrorMessage(db->conn));
    }
    if (PQputCopyEnd(db->conn, NULL) != 1)
        return lost(db, PQerrorMessage(db->conn));
    return finish(db, NULL);
}

int db_connect(struct db *db, const char *conninfo)
{
    /* Our defaults stand before the caller's string, which therefore wins. */
    static const char *const keys[] = {"connect_timeout",  "keepalives_idle", "tcp_user_timeout",
                                       "application_name", "dbname",          NULL};
    const char *const values[] = {"5", "30", "60000", "unblend-collector", conninfo, NULL};
    int err;

    if (db->conn && PQstatus(db->conn) == CONNECTION_OK)
        return 0;
    db_close(db);
    db->conn = PQconnectdbParams(keys, values, 1);
    if (!db->conn)
        return lost(db, "no memory");
    if (PQstatus(db->conn) != CONNECTION_OK)
        return lost(db, PQerrorMessage(db->conn));
    err = db_run(db, session);
    if (err)
        db_close(db);
    return err ? -EAGAIN : 0;
}
