/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/dimension.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/dimension_print.h"
#include "lib/sha256.h"

/* A table of rows that are found by digest: $1 is the node, $2 a JSON array of rows. */
struct dimension {
    int64_t number;
    const char *find;
    const char *insert;
};

#define FIND(table, id)                                                                            \
    "select d." id " from json_array_elements($2::json) with ordinality as g(item, n) "            \
    "left join unblend." table " as d "                                                            \
    "on d.node_id = $1 and d.digest = decode(g.item->>'digest', 'hex') order by g.n"

#define INSERT(table, columns, types)                                                              \
    "insert into unblend." table " (node_id, digest, " columns ") "                                \
    "select $1, decode(digest, 'hex'), " columns                                                   \
    " from json_to_recordset($2::json) as item (digest text, " types ") on conflict do nothing"

static const struct dimension hosts = {
    0,
    FIND("host", "host_id"),
    INSERT("host", "role, kernel, boot_id, hooks, bypasses",
           "role text, kernel text, boot_id text, hooks json, bypasses json"),
};

static const struct dimension jobs = {
    1,
    FIND("job", "job_id"),
    INSERT("job", "job, kind, \"user\", command, labels, start_ns",
           "job text, kind text, \"user\" text, command text, labels json, start_ns bigint"),
};

static const struct dimension volumes = {
    2,
    FIND("volume", "volume_id"),
    INSERT("volume", "volume, source, fstype, scope, mounts, lower",
           "volume text, source text, fstype text, scope text, mounts json, lower text"),
};

/* Puts the digest of all other keys into a row; false without memory. */
static bool add_digest(json_t *row)
{
    uint8_t hash[SHA256_SIZE];
    char hex[2 * DIGEST_SIZE + 1];
    char *text = row ? json_dumps(row, JSON_COMPACT) : NULL;

    if (!text)
        return false;
    sha256(text, strlen(text), hash);
    free(text);
    for (unsigned i = 0; i < DIGEST_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    return json_object_set_new(row, "digest", json_string(hex)) == 0;
}

static int find(struct db *db, const char *sql, const struct db_args *args, int64_t *ids,
                size_t count, bool *all)
{
    _cleanup_result_ PGresult *result = NULL;
    int err = db_query(db, sql, args, &result);

    if (err)
        return err;
    *all = (size_t)PQntuples(result) == count;
    for (size_t i = 0; *all && i < count; i++) {
        *all = !PQgetisnull(result, (int)i, 0);
        ids[i] = result_number(result, (int)i, 0);
    }
    return 0;
}

/* What a batch has of one table. */
struct wanted {
    const struct dimension *dimension;
    int64_t node_id;
    struct dimension_key *keys;
    int64_t *ids; /* to be found */
    size_t count;
};

static bool all_cached(const struct dimension_cache *cache, const struct wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (!dimension_cached(cache, &wanted->keys[i], &wanted->ids[i]))
            return false;
    return true;
}

static void remember(struct dimension_cache *cache, const struct wanted *wanted)
{
    int64_t known;

    for (size_t i = 0; i < wanted->count; i++)
        if (!dimension_cached(cache, &wanted->keys[i], &known))
            dimension_remember(cache, &wanted->keys[i], wanted->ids[i]);
}

/* The ids of rows, in their order; those that are missing are added. */
static int resolve(struct db *db, struct dimension_cache *cache, const struct wanted *wanted, const json_t *rows)
{
    const struct dimension *dimension = wanted->dimension;
    _cleanup_free_ char *text = json_dumps(rows, JSON_COMPACT);
    struct db_args args = {.count = 0};
    bool all;
    int err;

    if (!text)
        return -ENOMEM;
    db_number(&args, wanted->node_id);
    db_text(&args, text);
    err = find(db, dimension->find, &args, wanted->ids, wanted->count, &all);
    if (!err && !all) {
        err = db_query(db, dimension->insert, &args, NULL);
        if (!err)
            err = find(db, dimension->find, &args, wanted->ids, wanted->count, &all);
        if (!err && !all)
            err = -EDEADLK; /* removed at this very moment: once more */
    }
    if (!err)
        remember(cache, wanted);
    return err;
}

int dimension_host(struct db *db, struct dimension_cache *cache, int64_t node_id, const struct batch *batch,
                   struct copy *room, int64_t *host_id)
{
    const struct coverage *coverage = &batch->coverage;
    struct dimension_key key = {.table = hosts.number, .node_id = node_id};
    const struct wanted wanted = {&hosts, node_id, &key, host_id, 1};
    json_auto_t *rows = NULL;
    json_t *hooks, *bypasses, *row;
    bool failed = false;
    int err = dimension_print_host(batch, room, &key);

    if (err || all_cached(cache, &wanted))
        return err;
    rows = json_array();
    hooks = json_array();
    bypasses = json_array();
    for (uint32_t i = 0; i < coverage->hook_count; i++) {
        const struct hook *hook = &coverage->hooks[i];

        failed |=
            json_array_append_new(hooks, json_pack("{s:s, s:s, s:s?}", "hook", hook->name, "state",
                                                   hook->attached ? "attached" : "unavailable",
                                                   "why", hook->why)) != 0;
    }
    for (uint32_t i = 0; i < coverage->bypass_count; i++) {
        const struct bypass *bypass = &coverage->bypasses[i];

        failed |= json_array_append_new(bypasses, json_pack("{s:s, s:s, s:n, s:s}", "what",
                                                            bypass->what, "device", bypass->device,
                                                            "bytes", "why", bypass->why)) != 0;
    }
    row = json_pack("{s:s, s:s, s:s, s:o, s:o}", "role", batch->role, "kernel", batch->kernel,
                    "boot_id", batch->boot_id, "hooks", hooks, "bypasses", bypasses);
    failed |= !add_digest(row);
    if (json_array_append_new(rows, row) || failed)
        return -ENOMEM;
    return resolve(db, cache, &wanted, rows);
}

static json_t *job_row(const struct job *job)
{
    json_t *labels = json_object(), *row;
    bool failed = false;

    for (uint32_t i = 0; i < job->label_count; i++)
        failed |= json_object_set_new(labels, job->labels[i].name,
                                      json_string(job->labels[i].value)) != 0;
    row = json_pack("{s:s, s:s, s:s?, s:s, s:o, s:o}", "job", job->name, "kind", job->kind, "user",
                    job->user, "command", job->command, "labels", labels, "start_ns",
                    job->start_ns ? json_integer(job->start_ns) : json_null());
    if (failed || !add_digest(row)) {
        json_decref(row);
        return NULL;
    }
    return row;
}

/* How jobs ended may come batches after the rest; a later word is not taken back by an earlier one.
 */
static int end_jobs(struct db *db, const struct batch *batch, const int64_t *ids)
{
    json_auto_t *ended = json_array();
    _cleanup_free_ char *text = NULL;
    struct db_args args = {.count = 0};
    bool failed = !ended;

    for (uint32_t i = 0; i < batch->job_count; i++) {
        const struct job *job = &batch->jobs[i];

        if (job->end_ns || job->exit >= 0)
            failed |=
                json_array_append_new(
                    ended, json_pack("{s:I, s:o, s:o}", "job_id", (json_int_t)ids[i], "end_ns",
                                     job->end_ns ? json_integer(job->end_ns) : json_null(), "exit",
                                     job->exit >= 0 ? json_integer(job->exit) : json_null())) != 0;
    }
    if (failed)
        return -ENOMEM;
    if (!json_array_size(ended))
        return 0;
    text = json_dumps(ended, JSON_COMPACT);
    if (!text)
        return -ENOMEM;
    db_text(&args, text);
    return db_query(
        db,
        "update unblend.job as j set end_ns = coalesce(e.end_ns, j.end_ns), "
        "exit = coalesce(e.exit, j.exit) "
        "from json_to_recordset($1::json) as e (job_id bigint, end_ns bigint, exit integer) "
        "where j.job_id = e.job_id and (j.end_ns, j.exit) is distinct from "
        "(coalesce(e.end_ns, j.end_ns), coalesce(e.exit, j.exit))",
        &args, NULL);
}

static int find_jobs(struct db *db, struct dimension_cache *cache, const struct batch *batch,
                     const struct wanted *wanted, struct copy *room)
{
    json_auto_t *rows = NULL;
    int err = 0;

    for (uint32_t i = 0; i < batch->job_count && !err; i++) {
        wanted->keys[i] = (struct dimension_key){.table = jobs.number, .node_id = wanted->node_id};
        err = dimension_print_job(&batch->jobs[i], room, &wanted->keys[i]);
    }
    if (err || all_cached(cache, wanted))
        return err;
    rows = json_array();
    for (uint32_t i = 0; i < batch->job_count; i++)
        if (json_array_append_new(rows, job_row(&batch->jobs[i])))
            return -ENOMEM;
    return resolve(db, cache, wanted, rows);
}

int dimension_jobs(struct db *db, struct dimension_cache *cache, int64_t node_id, const struct batch *batch,
                   struct copy *room, int64_t *ids)
{
    _cleanup_free_ struct dimension_key *keys = calloc(batch->job_count + 1, sizeof(*keys));
    const struct wanted wanted = {&jobs, node_id, keys, ids, batch->job_count};
    int err = keys ? find_jobs(db, cache, batch, &wanted, room) : -ENOMEM;

    return err ? err : end_jobs(db, batch, ids);
}

static json_t *volume_row(const struct volume *volume)
{
    json_t *mounts = json_array(), *row;
    bool failed = false;

    for (uint32_t m = 0; m < volume->mount_count; m++)
        failed |= json_array_append_new(mounts, json_string(volume->mounts[m])) != 0;
    row = json_pack("{s:s, s:s, s:s, s:s, s:o}", "volume", volume->name, "source", volume->source, "fstype",
                    volume->fstype, "scope", volume->scope == SCOPE_SHARED ? "shared" : "local", "mounts", mounts);
    if (volume->lower) /* else the digest is what it was before there were any */
        failed |= json_object_set_new(row, "lower", json_string(volume->lower)) != 0;
    if (failed || !add_digest(row)) {
        json_decref(row);
        return NULL;
    }
    return row;
}

static int find_volumes(struct db *db, struct dimension_cache *cache, const struct batch *batch,
                        const struct wanted *wanted, struct copy *room)
{
    json_auto_t *rows = NULL;
    int err = 0;

    for (uint32_t i = 0; i < batch->volume_count && !err; i++) {
        wanted->keys[i] = (struct dimension_key){.table = volumes.number, .node_id = wanted->node_id};
        err = dimension_print_volume(&batch->volumes[i], room, &wanted->keys[i]);
    }
    if (err || all_cached(cache, wanted))
        return err;
    rows = json_array();
    for (uint32_t i = 0; i < batch->volume_count; i++)
        if (json_array_append_new(rows, volume_row(&batch->volumes[i])))
            return -ENOMEM;
    return resolve(db, cache, wanted, rows);
}

int dimension_volumes(struct db *db, struct dimension_cache *cache, int64_t node_id, const struct batch *batch,
                      struct copy *room, int64_t *ids)
{
    _cleanup_free_ struct dimension_key *keys = calloc(batch->volume_count + 1, sizeof(*keys));
    const struct wanted wanted = {&volumes, node_id, keys, ids, batch->volume_count};

    return keys ? find_volumes(db, cache, batch, &wanted, room) : -ENOMEM;
}
