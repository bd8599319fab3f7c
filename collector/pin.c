/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/pin.h"

#include <stdio.h>

#include "collector/locks.h"

/* Those that are pinned already are there, whatever was dropped beside them. */
static int insert(struct db *db, const struct db_args *span, char *since, size_t size)
{
    _cleanup_result_ PGresult *result = NULL;
    int err = db_query(db,
                       "insert into unblend.kept (since, until) select first, $2::timestamptz from (select case when "
                       "exists (select from unblend.kept where since <= $1::timestamptz and until >= $2::timestamptz) "
                       "then $1::timestamptz else greatest($1::timestamptz, "
                       "(select since from unblend.tier where tier = 'raw')) end as first) as left_over "
                       "where first < $2::timestamptz returning to_char(since, 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
                       span, &result);

    if (!err)
        snprintf(since, size, "%s", PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
    return err;
}

int pin_rows(struct db *db, const char *since, const char *until, char *kept, size_t size)
{
    struct db_args args = {.count = 0};
    int err;

    db_text(&args, since);
    db_text(&args, until);
    /* Who drops pieces has chosen them by the pins that there were. */
    err = db_run(db, "begin; select pg_advisory_xact_lock(" LOCK_DROPPED ")");
    if (!err)
        err = insert(db, &args, kept, size);
    if (!err)
        err = db_run(db, "commit");
    if (err && db->conn)
        db_close(db); /* and with it the transaction and the lock */
    return err;
}

int pin_release(struct db *db, const char *since, const char *until, int64_t *count)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_text(&args, since);
    db_text(&args, until);
    err = db_query(db,
                   "delete from unblend.kept where since >= $1::timestamptz and until <= $2::timestamptz returning 1",
                   &args, &result);
    if (!err)
        *count = PQntuples(result);
    return err;
}
