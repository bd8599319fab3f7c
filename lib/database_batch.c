/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/database_batch.h"

#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array_text.h"
#include "lib/cleanup.h"
#include "lib/codec_errors.h"
#include "lib/codec_flow.h"
#include "lib/codec_station.h"
#include "lib/codec_tree.h"

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
    IO_FULL
};

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Sorts numbers and leaves each of them once; how many there are then. */
static size_t distinct(int64_t *ids, size_t count)
{
    size_t kept = 0;

    qsort(ids, count, sizeof(*ids), compare);
    for (size_t i = 0; i < count; i++)
        if (!kept || ids[i] != ids[kept - 1])
            ids[kept++] = ids[i];
    return kept;
}

char *database_ids(const PGresult *intervals, int column, int from, int to)
{
    _cleanup_free_ int64_t *ids = NULL;
    size_t count = 0;

    for (int row = from; row < to; row++) {
        json_auto_t *value = json_loads(PQgetvalue(intervals, row, column), JSON_DECODE_ANY, NULL);
        size_t length = json_is_array(value) ? json_array_size(value) : 1;
        int64_t *grown = reallocarray(ids, count + length + 1, sizeof(*ids));

        if (!grown)
            return NULL;
        ids = grown;
        for (size_t i = 0; i < length; i++)
            ids[count++] =
                json_integer_value(json_is_array(value) ? json_array_get(value, i) : value);
    }
    return array_text(ids, ids ? distinct(ids, count) : 0);
}

static int64_t number(const PGresult *result, int row, int column)
{
    return strtoll(PQgetvalue(result, row, column), NULL, 10);
}

static json_t *json(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column)
               ? NULL
               : json_loads(PQgetvalue(result, row, column), JSON_DECODE_ANY, NULL);
}

/* The first row whose first column, which they are ordered by, is not below an id; the column is read as it came. */
static int first_of(const PGresult *result, int64_t id, int64_t (*read)(const PGresult *, int, int))
{
    int low = 0, high = PQntuples(result);

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (read(result, middle, 0) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The row with that id, of a result as text; -1 when there is none. */
static int row_of(const PGresult *result, int64_t id)
{
    int row = first_of(result, id, number);

    return row < PQntuples(result) && number(result, row, 0) == id ? row : -1;
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
    json_auto_t *shed = NULL;
    int err = 0;

    for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts) && !err; i++)
        err = batch_set(batch, texts[i].field, PQgetvalue(r, row, texts[i].column));
    batch->seq = (uint64_t)number(r, row, SEQ);
    batch->start_ns = number(r, row, START);
    batch->duration_ns = (uint64_t)number(r, row, DURATION);
    batch->interval_ms = (uint32_t)number(r, row, INTERVAL);
    batch->coverage.lost = (uint64_t)number(r, row, LOST);
    batch->coverage.killed = (uint64_t)number(r, row, KILLED);
    batch->coverage.in_flight = (uint64_t)number(r, row, IN_FLIGHT);
    batch->coverage.unattributed = (uint64_t)number(r, row, UNATTRIBUTED);
    batch->coverage.overflow = (uint64_t)number(r, row, OVERFLOW);
    if (!PQgetisnull(r, row, IO_SOME))
        batch->pressure = (struct pressure){true, (uint64_t)number(r, row, IO_SOME), (uint64_t)number(r, row, IO_FULL)};
    shed = json(r, row, SHED);
    for (unsigned i = 0; i < SHED_COUNT; i++)
        batch->coverage.shed_ms[i] = (uint64_t)json_integer_value(json_array_get(shed, i));
    return err;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static int set_coverage(struct batch *batch, const PGresult *intervals, int row)
{
    json_auto_t *hooks = json(intervals, row, HOOKS);
    json_auto_t *bypasses = json(intervals, row, BYPASSES);
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

static int add_job(struct batch *batch, const PGresult *jobs, int row, const json_t *end,
                   const json_t *exit_status, uint32_t *index)
{
    json_auto_t *labels = json(jobs, row, 5);
    _cleanup_free_ struct label *label = calloc(json_object_size(labels) + 1, sizeof(*label));
    struct job job = {
        .name = PQgetvalue(jobs, row, 1),
        .kind = PQgetvalue(jobs, row, 2),
        .user = PQgetisnull(jobs, row, 3) ? NULL : PQgetvalue(jobs, row, 3),
        .command = PQgetvalue(jobs, row, 4),
        .labels = label,
        .start_ns = PQgetisnull(jobs, row, 6) ? 0 : number(jobs, row, 6),
        .end_ns = json_integer_value(end),
        .exit = json_is_integer(exit_status) ? (int32_t)json_integer_value(exit_status) : -1,
    };
    const char *key;
    json_t *value;

    if (!label)
        return -ENOMEM;
    json_object_foreach(labels, key, value)
    {
        label[job.label_count].name = key;
        label[job.label_count++].value = json_string_value(value);
    }
    return batch_job(batch, &job, index);
}

/* An id of the database, and its place in the batch. In a minute or an hour two of them can share a name, and so a
   place: attempts of one job. */
struct place {
    int64_t id;
    uint32_t index;
};

/* NULL without memory, or when something is no id. */
static struct place *places_new(const json_t *ids)
{
    struct place *places = calloc(json_array_size(ids) + 1, sizeof(*places));

    for (size_t i = 0; places && i < json_array_size(ids); i++)
        places[i].id = json_integer_value(json_array_get(ids, i));
    return places;
}

static int add_jobs(struct batch *batch, const PGresult *intervals, int row, const PGresult *jobs,
                    const json_t *ids, struct place *places)
{
    json_auto_t *ends = json(intervals, row, JOB_ENDS);
    json_auto_t *exits = json(intervals, row, JOB_EXITS);
    int err = 0;

    for (size_t i = 0; i < json_array_size(ids) && !err; i++) {
        int at = row_of(jobs, json_integer_value(json_array_get(ids, i)));

        err = at < 0 ? -EBADMSG
                     : add_job(batch, jobs, at, json_array_get(ends, i), json_array_get(exits, i),
                               &places[i].index);
    }
    return err;
}

static int add_volume(struct batch *batch, const PGresult *volumes, int row, uint32_t *index)
{
    json_auto_t *list = json(volumes, row, 5);
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

static int64_t big(const PGresult *result, int row, int column)
{
    uint64_t value;

    memcpy(&value, PQgetvalue(result, row, column), sizeof(value));
    return (int64_t)be64toh(value);
}

/* The place of an id in the batch's own table; the list ends with an id that nobody has. */
static uint32_t index_of(const struct place *places, int64_t id)
{
    for (; places->id; places++)
        if (places->id == id)
            return places->index;
    return NO_INDEX;
}

static int set_errors(struct record *record, const PGresult *samples, int row, int column)
{
    json_auto_t *object = json(samples, row, column);

    return PQgetisnull(samples, row, column) ? 0 : codec_errors_decode(object, &record->error_codes);
}

static int add_sample(struct batch *batch, const struct place *jobs, const struct place *volumes,
                      const PGresult *samples, int row)
{
    enum operation op = operation_by_name(PQgetvalue(samples, row, 3));
    struct record *record;
    int err = batch_record(batch, index_of(jobs, big(samples, row, 1)),
                           index_of(volumes, big(samples, row, 2)), NO_INDEX, op, &record);

    if (!err) {
        record->bytes += (uint64_t)big(samples, row, 4);
        record->errors += (uint64_t)big(samples, row, 5);
        record->latency_sum_ns += (uint64_t)big(samples, row, 6);
        for (int i = 0; i < ORDER_COUNT; i++)
            record->order[i] += (uint64_t)big(samples, row, 9 + i);
        record->in_flight += (uint64_t)big(samples, row, 12);
        if ((uint64_t)big(samples, row, 13) > record->oldest_ns)
            record->oldest_ns = (uint64_t)big(samples, row, 13);
        for (int i = 0; i < CACHE_COUNTS; i++)
            record->cache[i] += (uint64_t)big(samples, row, 14 + i);
        for (int i = 0; i < FAULT_KINDS; i++)
            record->faults[i] += (uint64_t)big(samples, row, 14 + CACHE_COUNTS + i);
        record->in_flight_ns += (uint64_t)big(samples, row, 15 + CACHE_COUNTS + FAULT_KINDS);
        err = codec_histogram_unpack(PQgetvalue(samples, row, 7),
                                     (size_t)PQgetlength(samples, row, 7), &record->size);
    }
    if (!err)
        err = codec_histogram_unpack(PQgetvalue(samples, row, 8),
                                     (size_t)PQgetlength(samples, row, 8), &record->latency_ns);
    if (!err)
        err = set_errors(record, samples, row, 14 + CACHE_COUNTS + FAULT_KINDS);
    return err == -ENOMEM || !err ? err : -EBADMSG;
}

static int histogram_at(const PGresult *flows, int row, int column, struct histogram *out)
{
    return codec_histogram_unpack(PQgetvalue(flows, row, column), (size_t)PQgetlength(flows, row, column), out);
}

static int add_flow(struct batch *batch, const struct place *jobs, const struct place *volumes,
                    const PGresult *flows, int row)
{
    json_auto_t *in_flight =
        json_loadb(PQgetvalue(flows, row, 14), (size_t)PQgetlength(flows, row, 14), 0, NULL);
    uint32_t length;
    struct flow *flow;
    int err = batch_flow(batch, index_of(jobs, big(flows, row, 1)), index_of(volumes, big(flows, row, 2)), &flow);

    memcpy(&length, PQgetvalue(flows, row, 4), sizeof(length));
    if (!err)
        err = codec_slots_span(flow, big(flows, row, 3), be32toh(length));
    for (int d = 0; d < DEMAND_COUNT && !err; d++)
        err = codec_slots_unpack(PQgetvalue(flows, row, 5 + d), (size_t)PQgetlength(flows, row, 5 + d), flow,
                                 (enum demand)d);
    for (int kind = 0; kind < FLOW_KINDS && !err; kind++) {
        err = histogram_at(flows, row, 10 + 2 * kind, &flow->burst[kind]);
        if (!err)
            err = histogram_at(flows, row, 11 + 2 * kind, &flow->steady[kind]);
    }
    if (!err && !codec_in_flight_decode(in_flight, flow))
        err = -EBADMSG;
    if (!err && !PQgetisnull(flows, row, 15))
        err = sketch_parse(PQgetvalue(flows, row, 15), &flow->files);
    return err == -ENOMEM || !err ? err : -EBADMSG;
}

static int add_stations(struct batch *batch, const PGresult *storage, int64_t batch_id)
{
    int at = row_of(storage, batch_id), err;
    json_auto_t *root = json_object();
    struct codec_error error;

    if (at < 0 || PQgetisnull(storage, at, 1))
        return 0;
    if (!root || json_object_set_new(root, "storage", json(storage, at, 1)))
        return -ENOMEM;
    err = codec_stations_decode(batch, &error, root);
    return err == -ENOMEM || !err ? err : -EBADMSG;
}

static int add_trees(struct batch *batch, const PGresult *storage, int64_t batch_id)
{
    int at = row_of(storage, batch_id), err;
    json_auto_t *root = json_object();
    struct codec_error error;

    if (at < 0 || PQgetisnull(storage, at, 3))
        return 0;
    if (!root || json_object_set_new(root, "trees", json(storage, at, 3)))
        return -ENOMEM;
    err = codec_trees_decode(batch, &error, root);
    return err == -ENOMEM || !err ? err : -EBADMSG;
}

static int add_space(struct batch *batch, const PGresult *storage, int64_t batch_id, const struct place *volumes)
{
    int at = row_of(storage, batch_id);
    json_auto_t *list = at < 0 || PQgetisnull(storage, at, 2) ? NULL : json(storage, at, 2);
    json_t *told;
    size_t i;

    json_array_foreach(list, i, told) {
        json_int_t volume = -1, used, total, used_files, total_files;

        if (json_unpack(told, "[I,I,I,I,I]", &volume, &used, &total, &used_files, &total_files) || volume < 0 ||
            volume >= batch->volume_count)
            return -EBADMSG;
        batch->volumes[volumes[volume].index].has_space = true;
        batch->volumes[volumes[volume].index].space =
            (struct space){(uint64_t)used, (uint64_t)total, (uint64_t)used_files, (uint64_t)total_files};
    }
    return 0;
}

int database_batch(const PGresult *intervals, int row, const struct database_rows *rows, struct batch **out)
{
    const PGresult *samples = rows->samples, *flows = rows->flows;
    _cleanup_(batch_freep) struct batch *batch = NULL;
    json_auto_t *job_ids = json(intervals, row, DATABASE_JOB_IDS);
    json_auto_t *volume_ids = json(intervals, row, DATABASE_VOLUME_IDS);
    _cleanup_free_ struct place *jobs = places_new(job_ids), *volumes = places_new(volume_ids);
    int64_t id = number(intervals, row, DATABASE_BATCH_ID);
    int err = jobs && volumes ? batch_new(&batch) : -ENOMEM;

    if (!err)
        err = set_interval(batch, intervals, row);
    if (!err)
        err = set_coverage(batch, intervals, row);
    if (!err)
        err = add_jobs(batch, intervals, row, rows->jobs, job_ids, jobs);
    for (size_t i = 0; i < json_array_size(volume_ids) && !err; i++) {
        int at = row_of(rows->volumes, json_integer_value(json_array_get(volume_ids, i)));

        err = at < 0 ? -EBADMSG : add_volume(batch, rows->volumes, at, &volumes[i].index);
    }
    for (int i = first_of(samples, id, big);
         !err && i < PQntuples(samples) && big(samples, i, 0) == id; i++)
        err = add_sample(batch, jobs, volumes, samples, i);
    for (int i = first_of(flows, id, big); !err && i < PQntuples(flows) && big(flows, i, 0) == id; i++)
        err = add_flow(batch, jobs, volumes, flows, i);
    if (!err)
        err = add_stations(batch, rows->storage, id);
    if (!err)
        err = add_trees(batch, rows->storage, id);
    if (!err)
        err = add_space(batch, rows->storage, id, volumes);
    if (!err)
        *out = take_pointer(batch);
    return err;
}
