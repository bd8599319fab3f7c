/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/schema.h"
#include "collector/store_private.h"

int store_new(const char *conninfo, struct store **out)
{
    struct store *store = calloc(1, sizeof(*store));

    if (!store)
        return -ENOMEM;
    store->conninfo = strdup(conninfo);
    if (!store->conninfo) {
        free(store);
        return -ENOMEM;
    }
    *out = store;
    return 0;
}

void store_free(struct store *store)
{
    if (!store)
        return;
    db_close(&store->db);
    copy_clear(&store->batches);
    copy_clear(&store->samples);
    copy_clear(&store->flows);
    copy_clear(&store->pending);
    copy_clear(&store->room);
    dimension_forget(&store->dimensions);
    free(store->conninfo);
    free(store);
}

const char *store_why(const struct store *store)
{
    return store->db.why;
}

int store_prepare(struct store *store)
{
    bool fresh = !store->db.conn || PQstatus(store->db.conn) != CONNECTION_OK;
    int err = db_connect(&store->db, store->conninfo);

    if (fresh) {
        store->checked = false;
        dimension_forget(&store->dimensions); /* perhaps another database stands in for it now */
    }
    if (!err && !store->checked) {
        err = schema_check(&store->db);
        store->checked = !err;
    }
    return err;
}

int store_check(struct store *store)
{
    int err = store_prepare(store);

    return err ? err : db_run(&store->db, "select");
}

int store_begin(struct store *store)
{
    int err = store_prepare(store);

    copy_reset(&store->batches);
    copy_reset(&store->samples);
    copy_reset(&store->flows);
    copy_reset(&store->pending);
    if (err)
        return err;
    err = db_run(&store->db, "begin");
    /* The server may have closed an idle connection behind our back: then, and only here, try
     * again. */
    if (err == -EAGAIN && !store->db.conn) {
        err = store_prepare(store);
        if (!err)
            err = db_run(&store->db, "begin");
    }
    return err;
}

void store_rollback(struct store *store)
{
    char why[sizeof(store->db.why)];

    copy_reset(&store->batches);
    copy_reset(&store->samples);
    copy_reset(&store->flows);
    copy_reset(&store->pending);
    dimension_settle(&store->dimensions, false);
    if (!store->db.conn)
        return;
    memcpy(why, store->db.why, sizeof(why)); /* the first cause is the one to tell */
    if (db_run(&store->db, "rollback"))
        db_close(&store->db);
    memcpy(store->db.why, why, sizeof(why));
}

struct db *store_db(struct store *store)
{
    return store_prepare(store) ? NULL : &store->db;
}
