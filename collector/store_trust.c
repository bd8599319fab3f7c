/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_private.h"
#include "lib/array_text.h"

/* Connects and asks; once more when the server had closed an idle connection behind our back. */
static int ask(struct store *store, const char *sql, const struct db_args *args, PGresult **out)
{
    int err = store_prepare(store);

    if (!err)
        err = db_query(&store->db, sql, args, out);
    if (err == -EAGAIN && !store->db.conn) {
        err = store_prepare(store);
        if (!err)
            err = db_query(&store->db, sql, args, out);
    }
    return err;
}

static bool holds(const PGresult *result, int row, int column, const uint8_t hash[SHA256_SIZE])
{
    size_t size;
    unsigned char *stored =
        PQunescapeBytea((const unsigned char *)PQgetvalue(result, row, column), &size);
    bool same = stored && size == SHA256_SIZE && hash_equal(stored, hash);

    PQfreemem(stored);
    return same;
}

static void copy_text(char *to, size_t size, const PGresult *result, int row, int column)
{
    snprintf(to, size, "%s", PQgetvalue(result, row, column));
}

int store_identify(struct store *store, struct asker *askers, unsigned count)
{
    _cleanup_result_ PGresult *result = NULL;
    _cleanup_free_ const uint8_t **hashes = calloc(count, sizeof(*hashes));
    _cleanup_free_ char *lookups = NULL;
    struct db_args args = {.count = 0};
    int err;

    for (unsigned i = 0; hashes && i < count; i++) {
        hashes[i] = askers[i].hash;
        askers[i].known = false;
    }
    lookups = hashes ? array_of_bytes(hashes, LOOKUP_SIZE, count) : NULL;
    if (!lookups)
        return -ENOMEM;
    db_text(&args, lookups);
    err = ask(store,
              "with asked as (select * from unnest($1::bytea[]) with ordinality as asked (lookup, n)) "
              "select n, sha256, cluster, node, '' from asked join unblend.token using (lookup) union all "
              "select n, sha256, '', '', site from asked join unblend.site using (lookup)",
              &args, &result);
    if (err)
        return err;
    for (int row = 0; row < PQntuples(result); row++) {
        struct asker *asker = &askers[result_number(result, row, 0) - 1];

        if (holds(result, row, 1, asker->hash)) {
            copy_text(asker->who->cluster, sizeof(asker->who->cluster), result, row, 2);
            copy_text(asker->who->node, sizeof(asker->who->node), result, row, 3);
            copy_text(asker->who->site, sizeof(asker->who->site), result, row, 4);
            asker->known = true;
        }
    }
    return 0;
}

static int put_token(struct store *store, const struct identity *who, const uint8_t hash[SHA256_SIZE],
                     const char *join_id)
{
    struct db_args args = {.count = 0};

    db_text(&args, who->node);
    db_text(&args, who->cluster);
    db_bytes(&args, hash, LOOKUP_SIZE);
    db_bytes(&args, hash, SHA256_SIZE);
    db_text(&args, join_id);
    return db_query(&store->db,
                    "insert into unblend.token (node, cluster, lookup, sha256, join_id) "
                    "values ($1, $2, $3, $4, $5::integer) "
                    "on conflict (node, cluster) do update set lookup = excluded.lookup, "
                    "sha256 = excluded.sha256, join_id = excluded.join_id, created_at = now()",
                    &args, NULL);
}

int store_enroll(struct store *store, const struct identity *who, const uint8_t hash[SHA256_SIZE])
{
    int err = store_prepare(store);

    return err ? err : put_token(store, who, hash, NULL);
}

/* Deletes what is named; -ESRCH when it was not there. */
static int forget(struct store *store, const char *sql, const struct db_args *args)
{
    _cleanup_result_ PGresult *result = NULL;
    int err = ask(store, sql, args, &result);

    if (err)
        return err;
    return PQntuples(result) ? 0 : -ESRCH;
}

int store_revoke(struct store *store, const struct identity *who, bool *writes_on)
{
    static const char sql[] =
        "with gone as (delete from unblend.token where node = $1 and ($2 = '' or cluster = $2) returning 1) "
        "select (select count(*) from gone), "
        "$2 <> '' and exists (select from unblend.token where node = $1 and cluster = '')";
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_text(&args, who->node);
    db_text(&args, who->cluster);
    err = ask(store, sql, &args, &result);
    if (err)
        return err;
    *writes_on = *PQgetvalue(result, 0, 1) == 't';
    return result_number(result, 0, 0) ? 0 : -ESRCH;
}

int store_join_new(struct store *store, const struct join *join, const uint8_t hash[SHA256_SIZE])
{
    struct db_args args = {.count = 0};

    db_bytes(&args, hash, LOOKUP_SIZE);
    db_bytes(&args, hash, SHA256_SIZE);
    db_text(&args, join->glob);
    db_text(&args, join->cluster);
    db_number(&args, join->expires_s);
    db_number(&args, join->uses);
    db_number(&args, join->reborn_s);
    return ask(store,
               "insert into unblend.join_token (lookup, sha256, glob, cluster, expires_at, uses_left, reborn_s) "
               "values ($1, $2, $3, $4, now() + $5::bigint * interval '1 second', $6::integer, nullif($7::bigint, 0))",
               &args, NULL);
}

int store_join_revoke(struct store *store, const char *glob)
{
    struct db_args args = {.count = 0};

    db_text(&args, glob);
    return forget(store, "delete from unblend.join_token where glob = $1 returning 1", &args);
}

/* --- inside one transaction --- */

/* The join token's row, locked. Columns: id, glob, cluster, uses_left, reborn_s. */
static int find_join(struct store *store, const uint8_t hash[SHA256_SIZE], PGresult **out, int *row)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_bytes(&args, hash, LOOKUP_SIZE);
    err = db_query(&store->db,
                   "select join_id, glob, cluster, uses_left, coalesce(reborn_s, 0), sha256 from unblend.join_token "
              "where lookup = $1 and expires_at > now() for update",
              &args, &result);
    if (err)
        return err;
    for (int i = 0; i < PQntuples(result); i++)
        if (holds(result, i, 5, hash)) {
            *out = take_pointer(result);
            *row = i;
            return 0;
        }
    return -EACCES;
}

/* Whether the name is free: nobody has it, or it was joined, and its node has been silent for long enough. */
static int check_free(struct store *store, const struct identity *who, int64_t reborn_s)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_text(&args, who->node);
    db_text(&args, who->cluster);
    db_number(&args, reborn_s);
    err = db_query(&store->db,
                   "select from unblend.token as t where t.node = $1 and (t.cluster = $2 or t.cluster = '' or $2 = '') "
              "and not (t.join_id is not null and t.cluster = $2 and $3::bigint > 0 and "
              "greatest(t.created_at, (select max(s.last_batch) from unblend.stream as s "
              "join unblend.node as n using (node_id) where n.node = $1 and ($2 = '' or n.cluster = $2))) "
              "< now() - $3::bigint * interval '1 second')",
              &args, &result);
    if (err)
        return err;
    return PQntuples(result) ? -EEXIST : 0;
}

static int note_join(struct store *store, const char *join_id, const struct identity *who, const char *address)
{
    struct db_args args = {.count = 0};

    db_text(&args, join_id);
    db_text(&args, who->cluster);
    db_text(&args, who->node);
    db_text(&args, address);
    return db_query(&store->db,
                    "with used as (update unblend.join_token set uses_left = uses_left - 1 "
                    "where join_id = $1::integer) "
                    "insert into unblend.enrolment (join_id, cluster, node, address) "
                    "values ($1::integer, $2, $3, $4)",
                    &args, NULL);
}

static int exchange(struct store *store, const uint8_t join_hash[SHA256_SIZE], struct identity *who,
                    const char *address, const uint8_t hash[SHA256_SIZE], int64_t *left)
{
    _cleanup_result_ PGresult *join = NULL;
    const char *cluster;
    int row, err = find_join(store, join_hash, &join, &row);

    if (err)
        return err;
    cluster = PQgetvalue(join, row, 2);
    if (!*who->cluster)
        copy_text(who->cluster, sizeof(who->cluster), join, row, 2);
    if (fnmatch(PQgetvalue(join, row, 1), who->node, 0) != 0 || (*cluster && strcmp(cluster, who->cluster) != 0))
        return -EPERM;
    err = check_free(store, who, result_number(join, row, 4));
    *left = result_number(join, row, 3) - 1;
    if (!err && *left < 0)
        err = -EDQUOT;
    if (!err)
        err = put_token(store, who, hash, PQgetvalue(join, row, 0));
    return err ? err : note_join(store, PQgetvalue(join, row, 0), who, address);
}

int store_join(struct store *store, const uint8_t join_hash[SHA256_SIZE], struct identity *who, const char *address,
               const uint8_t hash[SHA256_SIZE], int64_t *left)
{
    int err = store_begin(store);

    if (err)
        return err;
    err = exchange(store, join_hash, who, address, hash, left);
    if (!err)
        err = store_commit(store);
    if (err)
        store_rollback(store);
    return err;
}

int store_site(struct store *store, const char *site, const uint8_t *hash, const uint8_t *public_key)
{
    struct db_args args = {.count = 0};

    db_text(&args, site);
    db_bytes(&args, hash, hash ? LOOKUP_SIZE : 0);
    db_bytes(&args, hash, hash ? SHA256_SIZE : 0);
    db_bytes(&args, public_key, public_key ? SHA256_SIZE : 0);
    return ask(store,
               "insert into unblend.site (site, lookup, sha256, public_key) values ($1, $2, $3, $4) "
               "on conflict (site) do update set lookup = coalesce(excluded.lookup, site.lookup), "
               "sha256 = coalesce(excluded.sha256, site.sha256), "
               "public_key = coalesce(excluded.public_key, site.public_key)",
               &args, NULL);
}

int store_site_revoke(struct store *store, const char *site)
{
    struct db_args args = {.count = 0};

    db_text(&args, site);
    return forget(store, "delete from unblend.site where site = $1 returning 1", &args);
}

int store_site_of_key(struct store *store, const uint8_t public_key[SHA256_SIZE], struct identity *out)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_bytes(&args, public_key, SHA256_SIZE);
    err = ask(store, "select site from unblend.site where public_key = $1", &args, &result);
    if (err)
        return err;
    if (!PQntuples(result))
        return -EACCES;
    *out = (struct identity){.node = ""};
    copy_text(out->site, sizeof(out->site), result, 0, 0);
    return 0;
}

int store_grant(struct store *store, const char *role, bool may_write)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    char *name, sql[512];
    int err;

    db_text(&args, role);
    err = ask(store, "select from pg_roles where rolname = $1", &args, &result);
    if (!err && !PQntuples(result)) {
        name = PQescapeIdentifier(store->db.conn, role, strlen(role));
        snprintf(sql, sizeof(sql), "create role %.400s login", name ? name : "");
        PQfreemem(name);
        err = db_run(&store->db, sql);
    }
    if (err)
        return err;
    return ask(store, may_write ? "select unblend.grant_writer($1)" : "select unblend.grant_reader($1)", &args, NULL);
}
