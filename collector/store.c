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
    copy_clear(&store->samples);
    copy_clear(&store->flows);
    free(store->conninfo);
    free(store);
}

const char *store_why(const struct store *store)
{
    return store->db.why;
}

/* Connected, and to a database of ours. */
static int prepare(struct store *store)
{
    bool fresh = !store->db.conn || PQstatus(store->db.conn) != CONNECTION_OK;
    int err = db_connect(&store->db, store->conninfo);

    if (fresh)
        store->checked = false;
    if (!err && !store->checked) {
        err = schema_check(&store->db);
        store->checked = !err;
    }
    return err;
}

int store_check(struct store *store)
{
    int err = prepare(store);

    return err ? err : db_run(&store->db, "select");
}

int store_begin(struct store *store)
{
    int err = prepare(store);

    copy_reset(&store->samples);
    copy_reset(&store->flows);
    if (err)
        return err;
    err = db_run(&store->db, "begin");
    /* The server may have closed an idle connection behind our back: then, and only here, try
     * again. */
    if (err == -EAGAIN && !store->db.conn) {
        err = prepare(store);
        if (!err)
            err = db_run(&store->db, "begin");
    }
    return err;
}

void store_rollback(struct store *store)
{
    char why[sizeof(store->db.why)];

    copy_reset(&store->samples);
    copy_reset(&store->flows);
    if (!store->db.conn)
        return;
    memcpy(why, store->db.why, sizeof(why)); /* the first cause is the one to tell */
    if (db_run(&store->db, "rollback"))
        db_close(&store->db);
    memcpy(store->db.why, why, sizeof(why));
}

int store_identify(struct store *store, const uint8_t hash[SHA256_SIZE], struct identity *out)
{
    static const char sql[] = "select sha256, cluster, node from unblend.token where lookup = $1";
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err = prepare(store);

    db_bytes(&args, hash, LOOKUP_SIZE);
    if (!err)
        err = db_query(&store->db, sql, &args, &result);
    if (err == -EAGAIN && !store->db.conn) { /* as in store_begin() */
        err = prepare(store);
        if (!err)
            err = db_query(&store->db, sql, &args, &result);
    }
    if (err)
        return err;
    err = -EACCES;
    for (int i = 0; i < PQntuples(result); i++) {
        size_t size;
        unsigned char *stored =
            PQunescapeBytea((const unsigned char *)PQgetvalue(result, i, 0), &size);

        if (stored && size == SHA256_SIZE && hash_equal(stored, hash)) {
            strncpy(out->cluster, PQgetvalue(result, i, 1), sizeof(out->cluster) - 1);
            strncpy(out->node, PQgetvalue(result, i, 2), sizeof(out->node) - 1);
            err = 0;
        }
        PQfreemem(stored);
    }
    return err;
}

int store_enroll(struct store *store, const struct identity *who, const uint8_t hash[SHA256_SIZE])
{
    struct db_args args = {.count = 0};
    int err = prepare(store);

    if (err)
        return err;
    db_text(&args, who->node);
    db_text(&args, who->cluster);
    db_bytes(&args, hash, LOOKUP_SIZE);
    db_bytes(&args, hash, SHA256_SIZE);
    return db_query(
        &store->db,
        "insert into unblend.token (node, cluster, lookup, sha256) values ($1, $2, $3, $4) "
        "on conflict (node, cluster) do update set lookup = excluded.lookup, "
        "sha256 = excluded.sha256, created_at = now()",
        &args, NULL);
}

int store_revoke(struct store *store, const struct identity *who)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err = prepare(store);

    if (err)
        return err;
    db_text(&args, who->node);
    db_text(&args, who->cluster);
    err = db_query(
        &store->db,
        "delete from unblend.token where node = $1 and ($2 = '' or cluster = $2) returning 1",
        &args, &result);
    if (err)
        return err;
    return PQntuples(result) ? 0 : -ESRCH;
}

struct db *store_db(struct store *store)
{
    return prepare(store) ? NULL : &store->db;
}
