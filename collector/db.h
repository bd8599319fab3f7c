/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to PostgreSQL that says in one word what went wrong, and gives up on a server that
 * does not answer in time. Not thread safe; a connection a thread.
 *
 * Results: 0, or
 *   -EAGAIN   PostgreSQL is away, full or shutting down: try again later
 *   -EDEADLK  the transaction lost against another: try it again at once
 *   -EINVAL   PostgreSQL does not take the data
 *   -ENOENT   the schema is not there
 *   -EACCES   the role may not: it does not own the tables, or has no right to them
 *   -EIO      anything else
 * db->why then holds a line for people.
 */
#ifndef UNBLEND_COLLECTOR_DB_H
#define UNBLEND_COLLECTOR_DB_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/result.h"

#define DB_ARGS 28
#define DB_STATEMENTS 48

struct db {
    PGconn *conn; /* NULL while there is none */
    char why[256];
    /* Of statements that have come on this connection; those that come again are prepared. 0: free. */
    struct db_statement {
        uint64_t hash;
        bool prepared;
    } statements[DB_STATEMENTS];
};

/* Parameters of a statement: add them in order. Texts and bytes are not copied, they must live
   until the query is over. NULL is a null. */
struct db_args {
    const char *values[DB_ARGS];
    int lengths[DB_ARGS];
    int formats[DB_ARGS];
    char numbers[DB_ARGS][24];
    int count;
};

void db_text(struct db_args *args, const char *text);
void db_number(struct db_args *args, int64_t number);
void db_bytes(struct db_args *args, const void *data, size_t size);

/* Connects unless it is connected, and sets the session up. 0 or -EAGAIN. */
int db_connect(struct db *db, const char *conninfo);
void db_close(struct db *db);

/* One or more statements without parameters or result. */
int db_run(struct db *db, const char *sql);

/* One statement; out may be NULL. The result is the caller's: PQclear(). The server parses one with arguments that
   comes again and again only once. */
int db_query(struct db *db, const char *sql, const struct db_args *args, PGresult **out);

/* FETCH from a cursor, which says whether the result is binary. The result is the caller's. */
int db_fetch(struct db *db, const char *sql, PGresult **out);

/* Sends one COPY ... FROM STDIN with all of its data. */
int db_copy(struct db *db, const char *sql, const void *data, size_t size);

#endif
