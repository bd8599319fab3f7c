/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of database_batch.h share. */
#ifndef UNBLEND_LIB_DATABASE_PRIVATE_H
#define UNBLEND_LIB_DATABASE_PRIVATE_H

#include <endian.h>
#include <string.h>

#include "lib/database_batch.h"

/* An id of the database, and its place in the batch. In a minute or an hour two of them can share a name, and so a
   place: attempts of one job. */
struct database_place {
    int64_t id;
    uint32_t index;
};

/* A bigint that came in binary. */
static inline int64_t database_big(const PGresult *result, int row, int column)
{
    uint64_t value;

    memcpy(&value, PQgetvalue(result, row, column), sizeof(value));
    return (int64_t)be64toh(value);
}

/* The same, of which a null is 0. */
static inline uint64_t database_count(const PGresult *result, int row, int column)
{
    return PQgetlength(result, row, column) ? (uint64_t)database_big(result, row, column) : 0;
}

/* The row with that id, by which they are ordered; -1 when there is none. */
int database_row_of(const PGresult *result, int64_t id);

/* Adds the samples of a batch, its flows, and what it says of storage; jobs and volumes end with an id of nobody. 0,
   -ENOMEM or -EBADMSG. */
int database_add_rows(struct batch *batch, const struct database_rows *rows, int64_t id,
                      const struct database_place *jobs, const struct database_place *volumes);

#endif
