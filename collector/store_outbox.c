/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"

int store_outbox_put(struct store *store, const void *body, size_t size)
{
    struct db_args args = {.count = 0};

    db_bytes(&args, body, size);
    return db_query(&store->db, "insert into unblend.outbox (body) values ($1)", &args, NULL);
}

static int take_rows(const PGresult *result, struct outbox_row *rows, unsigned *count)
{
    *count = 0;
    for (int i = 0; i < PQntuples(result); i++) {
        struct outbox_row *row = &rows[*count];

        row->id = result_number(result, i, 0);
        row->body = PQunescapeBytea((const unsigned char *)PQgetvalue(result, i, 1), &row->size);
        if (!row->body)
            return -ENOMEM;
        ++*count;
    }
    return 0;
}

void outbox_rows_clear(struct outbox_row *rows, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        PQfreemem(rows[i].body);
}

int store_outbox_take(struct store *store, int64_t after, struct outbox_row *rows, unsigned most, unsigned *count)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err = store_begin(store);

    *count = 0;
    if (err)
        return err;
    db_number(&args, most);
    db_number(&args, after);
    err = db_query(&store->db,
                   "select outbox_id, body from unblend.outbox where refused is null and outbox_id > $2::bigint "
                   "order by outbox_id limit $1::bigint for update skip locked",
                   &args, &result);
    if (!err)
        err = take_rows(result, rows, count);
    if (err) {
        outbox_rows_clear(rows, *count);
        *count = 0;
        store_rollback(store);
    }
    return err;
}

int store_outbox_settle(struct store *store, const struct outbox_row *rows, unsigned count, const char *refused)
{
    int err = 0;

    for (unsigned i = 0; !err && i < count; i++) {
        struct db_args args = {.count = 0};

        db_number(&args, rows[i].id);
        if (refused)
            db_text(&args, refused);
        err = db_query(&store->db,
                       refused ? "update unblend.outbox set refused = $2 where outbox_id = $1"
                               : "delete from unblend.outbox where outbox_id = $1",
                       &args, NULL);
    }
    if (!err)
        err = store_commit(store);
    if (err)
        store_rollback(store);
    return err;
}
