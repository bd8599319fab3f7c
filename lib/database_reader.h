/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The batches of a database, in the order of time: a group of intervals at once, with what they refer to. While one
 * group is handed out, the database computes the next one and what has come of it is received: reading costs the time
 * of the slower of both, and memory holds two groups. Not thread safe.
 */
#ifndef UNBLEND_LIB_DATABASE_READER_H
#define UNBLEND_LIB_DATABASE_READER_H

#include <libpq-fe.h>
#include <stdint.h>

#include "lib/record.h"

/* A span of time and the tier to read it from. */
struct database_piece {
    const char *suffix; /* of the views; "" for raw rows. Stays the caller's, and longer than the reader. */
    int64_t since_ns, until_ns;
};

struct database_reader;

/* In a transaction, which gives one picture, on a connection that is the reader's until database_reader_free(). nodes:
   the names of those that are asked for, as a JSON array; NULL: all. 0 or -errno (logged). */
int database_reader_new(PGconn *conn, const struct database_piece *pieces, unsigned count, const char *nodes,
                        struct database_reader **out);

/* The next batch, the caller's then. 1, 0 at the end, or -errno (logged). */
int database_reader_next(struct database_reader *reader, struct batch **out);

/* Waits for all that was asked for: the connection is the caller's until the next batch is. 0 or -errno (logged). */
int database_reader_wait(struct database_reader *reader);

/* Leaves the connection as database_reader_wait() does; NULL is fine. */
void database_reader_free(struct database_reader *reader);

#endif
