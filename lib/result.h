/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What PostgreSQL answered. */
#ifndef UNBLEND_LIB_RESULT_H
#define UNBLEND_LIB_RESULT_H

#include <libpq-fe.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/cleanup.h"

/* A whole number of a result in text. */
static inline int64_t result_number(const PGresult *result, int row, int column)
{
    return strtoll(PQgetvalue(result, row, column), NULL, 10);
}

static inline void result_clearp(PGresult **result)
{
    PQclear(*result);
}

#define _cleanup_result_ _cleanup_(result_clearp)

#endif
