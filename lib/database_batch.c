/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/database_batch.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array_text.h"
#include "lib/cleanup.h"
#include "lib/database_private.h"
#include "lib/order.h"
#include "lib/result.h"

/* Columns of intervals behind the ids. */
enum {
    JOB_ENDS = DATABASE_VOLUME_IDS + 1,
    JOB_EXITS,
    CLUSTER,
    NODE,
    ROLE,
    KERNEL,
    BOOT_ID,
    STREAM,
    SEQ,
    START,
    DURATION,
    INTERVAL,
    LOST,
    KILLED,
    IN_FLIGHT,
    UNATTRIBUTED,
    OVERFLOW,
    HOOKS,
    BYPASSES,
    SHED,
    IO_SOME,
    IO_FULL,
    JOB_WATCHED,
    JOB_EXPOSED
};

/* Sorts numbers and leaves each of them once; how many there are then. */
static size_t distinct(int64_t *ids, size_t count)
{
    size_t kept = 0;

    qsort(ids, count, sizeof(*ids), order_int64);
    for (size_t i = 0; i < count; i++)
        if (!kept || ids[i] != ids[kept - 1])
            ids[kept++] = ids[i];
    return kept;
}

/* An array; none at all is an empty one. 0, -ENOMEM or -EBADMSG. */
static int numbers(const PGresult *intervals, int row, int column, int64_t **out, size_t *count)
{
    return array_numbers(PQgetisnull(intervals, row, column) ? "{}" : PQgetvalue(intervals, row, column), out, count);
}

char *database_ids(const PGresult *intervals, int column, int from, int to)
{
    _cleanup_free_ int64_t *ids = NULL;
    size_t count = 0;

    for (int row = from; row < to; row++) {
        _cleanup_free_ int64_t *more = NULL;
        size_t length = 1;
        int64_t *grown;

        if (column != DATABASE_BATCH_ID && numbers(intervals, row, column, &more, &length))
            return NULL;
        grown = reallocarray(ids, count + length + 1, sizeof(*ids));
        if (!grown)
            return NULL;
        ids = grown;
        if (column == DATABASE_BATCH_ID)
            ids[count++] = result_number(intervals, row, column);
        for (size_t i = 0; more && i < length; i++)
            ids[count++] = more[i];
    }
    return array_text(ids, ids ? distinct(ids, count) : 0);
}

/* JSON that many rows have in common; the cache's. */
static const json_t *common(struct json_cache *cache, const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column) ? NULL : json_cache_get(cache, PQgetvalue(result, row, column));
}

static int set_interval(struct batch *batch, const PGresult *r, int row)
{
    const struct {
        const char **field;
        int column;
    } texts[] = {
        {&batch->cluster, CLUSTER}, {&batch->node, NODE},       {&batch->role, ROLE},
        {&batch->kernel, KERNEL},   {&batch->boot_id, BOOT_ID}, {&batch->stream, STREAM},
    };
    _cleanup_free_ int64_t *shed = NULL;
    size_t shed_count;
    int err = numbers(r, row, SHED, &shed, &shed_count);

    for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts) && !err; i++)
        err = batch_set(batch, texts[i].field, PQgetvalue(r, row, texts[i].column));
    batch->seq = (uint64_t)result_number(r, row, SEQ);
    batch->start_ns = result_number(r, row, START);
    batch->duration_ns = (uint64_t)result_number(r, row, DURATION);
    batch->interval_ms = (uint32_t)result_number(r, row, INTERVAL);
    batch->coverage.lost = (uint64_t)result_number(r, row, LOST);
    batch->coverage.killed = (uint64_t)result_number(r, row, KILLED);
    batch->coverage.in_flight = (uint64_t)result_number(r, row, IN_FLIGHT);
    batch->coverage.unattributed = (uint64_t)result_number(r, row, UNATTRIBUTED);
    batch->coverage.overflow = (uint64_t)result_number(r, row, OVERFLOW);
    if (!PQgetisnull(r, row, IO_SOME))
        batch->pressure = (struct pressure){true, (uint64_t)result_number(r, row, IO_SOME), (uint64_t)result_number(r, row, IO_FULL)};
    for (unsigned i = 0; !err && i < SHED_COUNT && i < shed_count; i++)
        batch->coverage.shed_ms[i] = (uint64_t)shed[i];
    return err;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static int set_coverage(struct batch *batch, const PGresult *intervals, int row, struct json_cache *cache)
{
    const json_t *hooks = common(cache, intervals, row, HOOKS);
    const json_t *bypasses = common(cache, intervals, row, BYPASSES);
    size_t hook_count = json_array_size(hooks), bypass_count = json_array_size(bypasses);
    _cleanup_free_ struct hook *hook = calloc(hook_count + 1, sizeof(*hook));
    _cleanup_free_ struct bypass *bypass = calloc(bypass_count + 1, sizeof(*bypass));
    int err;

    if (!hook || !bypass)
        return -ENOMEM;
    for (size_t i = 0; i < hook_count; i++) {
        const json_t *value = json_array_get(hooks, i);

        hook[i].name = text_of(value, "hook");
        hook[i].attached = strcmp(text_of(value, "state"), "attached") == 0;
        hook[i].why = json_string_value(json_object_get(value, "why"));
    }
    for (size_t i = 0; i < bypass_count; i++) {
        const json_t *value = json_array_get(bypasses, i);

        bypass[i].what = text_of(value, "what");
        bypass[i].device = text_of(value, "device");
        bypass[i].why = text_of(value, "why");
    }
    err = batch_hooks(batch, hook, (uint32_t)hook_count);
    return err ? err : batch_bypasses(batch, bypass, (uint32_t)bypass_count);
}

static int add_job(struct batch *batch, const PGresult *jobs, int row, struct json_cache *cache, int64_t end_ns,
                   int64_t exit_status, uint32_t *index)
{
    const json_t *labels = common(cache, jobs, row, 5);
    _cleanup_free_ struct label *label = calloc(json_object_size(labels) + 1, sizeof(*label));
    struct job job = {
        .name = PQgetvalue(jobs, row, 1),
        .kind = PQgetvalue(jobs, row, 2),
        .user = PQgetisnull(jobs, row, 3) ? NULL : PQgetvalue(jobs, row, 3),
        .command = PQgetvalue(jobs, row, 4),
        .labels = label,
        .start_ns = PQgetisnull(jobs, row, 6) ? 0 : database_big(jobs, row, 6),
        .end_ns = end_ns,
        .exit = (int32_t)exit_status,
    };
    const char *key;
    json_t *value;

    if (!label)
        return -ENOMEM;
    json_object_foreach((json_t *)labels, key, value)
    {
        label[job.label_count].name = key;
        label[job.label_count++].value = json_string_value(value);
    }
    return batch_job(batch, &job, index);
}

/* Those of a column of ids, behind them one of nobody. 0, -ENOMEM or -EBADMSG. */
static int places_new(const PGresult *intervals, int row, int column, struct database_place **out)
{
    _cleanup_free_ int64_t *ids = NULL;
    size_t count;
    int err = numbers(intervals, row, column, &ids, &count);

    if (err)
        return err;
    *out = calloc(count + 1, sizeof(**out));
    for (size_t i = 0; *out && i < count; i++)
        (*out)[i].id = ids[i];
    return *out ? 0 : -ENOMEM;
}

static int add_jobs(struct batch *batch, const PGresult *intervals, int row, const PGresult *jobs,
                    struct json_cache *cache, struct database_place *places)
{
    _cleanup_free_ int64_t *ends = NULL, *exits = NULL, *watched = NULL, *exposed = NULL;
    size_t end_count, exit_count, watched_count, exposed_count;
    int err = numbers(intervals, row, JOB_ENDS, &ends, &end_count);

    if (!err)
        err = numbers(intervals, row, JOB_EXITS, &exits, &exit_count);
    if (!err)
        err = numbers(intervals, row, JOB_WATCHED, &watched, &watched_count);
    if (!err)
        err = numbers(intervals, row, JOB_EXPOSED, &exposed, &exposed_count);
    for (size_t i = 0; !err && places[i].id; i++) {
        int at = database_row_of(jobs, places[i].id);

        err = at < 0 ? -EBADMSG
                     : add_job(batch, jobs, at, cache, i < end_count && ends[i] != ARRAY_NULL ? ends[i] : 0,
                               i < exit_count ? exits[i] : -1, &places[i].index);
        if (!err && i < watched_count && i < exposed_count && watched[i] != ARRAY_NULL && exposed[i] != ARRAY_NULL) {
            batch->jobs[places[i].index].watched_ns += (uint64_t)watched[i];
            batch->jobs[places[i].index].exposed_ns += (uint64_t)exposed[i];
        }
    }
    return err;
}

static int add_volume(struct batch *batch, const PGresult *volumes, int row, struct json_cache *cache, uint32_t *index)
{
    const json_t *list = common(cache, volumes, row, 5);
    _cleanup_free_ const char **mounts = calloc(json_array_size(list) + 1, sizeof(*mounts));
    struct volume volume = {
        .name = PQgetvalue(volumes, row, 1),
        .source = PQgetvalue(volumes, row, 2),
        .fstype = PQgetvalue(volumes, row, 3),
        .scope = strcmp(PQgetvalue(volumes, row, 4), "shared") == 0 ? SCOPE_SHARED : SCOPE_LOCAL,
        .mounts = mounts,
        .mount_count = (uint32_t)json_array_size(list),
        .lower = PQgetisnull(volumes, row, 6) ? NULL : PQgetvalue(volumes, row, 6),
    };

    if (!mounts)
        return -ENOMEM;
    for (uint32_t i = 0; i < volume.mount_count; i++)
        mounts[i] = json_string_value(json_array_get(list, i));
    return batch_volume(batch, &volume, index);
}

void database_rows_clear(struct database_rows *rows)
{
    PQclear(rows->jobs);
    PQclear(rows->volumes);
    PQclear(rows->storage);
    PQclear(rows->samples.result);
    PQclear(rows->flows.result);
    free(rows->samples.rows);
    free(rows->flows.rows);
    *rows = (struct database_rows){0};
}

int database_batch(const PGresult *intervals, int row, const struct database_rows *rows, struct json_cache *cache,
                   struct batch **out)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    _cleanup_free_ struct database_place *jobs = NULL, *volumes = NULL;
    int64_t id = result_number(intervals, row, DATABASE_BATCH_ID);
    int err = places_new(intervals, row, DATABASE_JOB_IDS, &jobs);

    json_cache_trim(cache);
    if (!err)
        err = places_new(intervals, row, DATABASE_VOLUME_IDS, &volumes);
    if (!err)
        err = batch_new(&batch);
    if (!err)
        err = set_interval(batch, intervals, row);
    if (!err)
        err = set_coverage(batch, intervals, row, cache);
    if (!err)
        err = add_jobs(batch, intervals, row, rows->jobs, cache, jobs);
    for (size_t i = 0; !err && volumes[i].id; i++) {
        int at = database_row_of(rows->volumes, volumes[i].id);

        err = at < 0 ? -EBADMSG : add_volume(batch, rows->volumes, at, cache, &volumes[i].index);
    }
    if (!err)
        err = database_add_rows(batch, rows, id, jobs, volumes);
    if (!err)
        *out = take_pointer(batch);
    return err;
}
