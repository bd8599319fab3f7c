/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec_counts.h"
#include "lib/codec_coverage.h"
#include "lib/codec_errors.h"
#include "lib/codec_flow.h"
#include "lib/codec_place.h"
#include "lib/codec_station.h"
#include "lib/codec_tree.h"
#include "lib/field.h"

#define CONTAINERS_MAX (3 * CODEC_RECORDS_MAX + 100000) /* records with their parts, processes and all the rest */

static int decode_labels(struct batch *batch, const struct field_place *p, json_t *o,
                         struct job *job)
{
    json_t *labels, *value;
    const char *name;
    struct label *table;
    int err = field_get(p, o, "labels", &labels);

    if (err)
        return err;
    if (!json_is_object(labels))
        return field_refuse(p, "labels", "is not an object");
    table = arena_alloc(&batch->arena, json_object_size(labels) * sizeof(*table));
    if (!table)
        return -ENOMEM;
    job->labels = table;
    json_object_foreach(labels, name, value)
    {
        if (!json_is_string(value))
            return field_refuse(p, "labels", "\"%.40s\" is not a string", name);
        table[job->label_count++] = (struct label){name, json_string_value(value)};
    }
    return 0;
}

static int decode_job(struct batch *batch, const struct field_place *p, json_t *o)
{
    struct job job = {.exit = -1};
    uint64_t status, gpu[GPU_TIMES] = {0};
    uint32_t index;
    int err;

    if ((err = field_text(p, o, "job", &job.name)) || (err = field_text(p, o, "kind", &job.kind)) ||
        (err = field_text_or_null(p, o, "user", &job.user)) ||
        (err = field_text(p, o, "command", &job.command)) ||
        (err = decode_labels(batch, p, o, &job)) ||
        (err = field_time_or_null(p, o, "start_ns", &job.start_ns)) ||
        (err = field_time_or_null(p, o, "end_ns", &job.end_ns)))
        return err;
    if (!json_is_null(json_object_get(o, "exit"))) {
        err = field_number(p, o, "exit", INT32_MAX, &status);
        if (err)
            return err;
        job.exit = (int32_t)status;
    }
    if (json_object_get(o, "watched_ns") && ((err = field_number(p, o, "watched_ns", INT64_MAX, &job.watched_ns)) ||
                                             (err = field_number(p, o, "exposed_ns", INT64_MAX, &job.exposed_ns))))
        return err;
    if (json_object_get(o, "gpu") && (err = field_counts(p, o, "gpu", GPU_TIMES, gpu)))
        return err;
    err = batch_job(batch, &job, &index);
    if (!err) {
        batch->jobs[index].watched_ns = job.watched_ns;
        batch->jobs[index].exposed_ns = job.exposed_ns;
        batch->jobs[index].gpu = (struct gpu_time){gpu[0], gpu[1], gpu[2], gpu[3], gpu[4], gpu[5], gpu[6]};
    }
    return !err && index != p->at ? field_refuse(p, "job", "is the name of another job, too") : err;
}

static int decode_volume(struct batch *batch, const struct field_place *p, json_t *o)
{
    struct volume volume = {0};
    const char **mounts;
    json_t *array, *mount;
    size_t i;
    uint32_t index;
    bool shared;
    int err;

    if ((err = field_text(p, o, "volume", &volume.name)) ||
        (err = field_text(p, o, "source", &volume.source)) ||
        (err = field_text(p, o, "fstype", &volume.fstype)) ||
        (err = field_choice(p, o, "scope", "shared", "local", &shared)) ||
        (err = field_array(p, o, "mounts", UINT32_MAX, &array)) ||
        (json_object_get(o, "lower") && (err = field_text(p, o, "lower", &volume.lower))))
        return err;
    if (json_object_get(o, "space")) {
        uint64_t space[4];

        err = field_counts(p, o, "space", 4, space);
        if (err)
            return err;
        volume.has_space = true;
        volume.space = (struct space){space[0], space[1], space[2], space[3]};
    }
    volume.scope = shared ? SCOPE_SHARED : SCOPE_LOCAL;
    mounts = arena_alloc(&batch->arena, json_array_size(array) * sizeof(*mounts));
    if (!mounts)
        return -ENOMEM;
    json_array_foreach(array, i, mount)
    {
        if (!json_is_string(mount))
            return field_refuse(p, "mounts", "element %zu is not a string", i);
        mounts[i] = json_string_value(mount);
    }
    volume.mounts = mounts;
    volume.mount_count = (uint32_t)json_array_size(array);
    err = batch_volume(batch, &volume, &index);
    return !err && index != p->at ? field_refuse(p, "volume", "is the name of another volume, too")
                                  : err;
}

static int decode_process(struct batch *batch, const struct field_place *p, json_t *o)
{
    struct process process = {0};
    uint32_t index;
    int err;

    if ((err = field_u32(p, o, "pid", &process.pid)) ||
        (json_object_get(o, "tid") && (err = field_u32(p, o, "tid", &process.tid))) ||
        (err = field_u32(p, o, "uid", &process.uid)) ||
        (err = field_time(p, o, "start_ns", &process.start_ns)) ||
        (err = field_text(p, o, "command", &process.command)) ||
        (err = field_index(p, o, "job", batch->job_count, &process.job)) ||
        (err = field_bool(p, o, "exited", &process.exited)))
        return err;
    err = batch_process(batch, &process, &index);
    return !err && index != p->at
               ? field_refuse(p, "pid", "with its start is another process's, too")
               : err;
}

static int decode_errors(const struct field_place *p, const json_t *o, struct record *record)
{
    int err = codec_errors_decode(json_object_get(o, "error_codes"), &record->error_codes);

    return err == -EBADMSG ? field_refuse(p, "error_codes", "is not an object of counts by names of errors") : err;
}

static int decode_record(struct batch *batch, const struct field_place *p, json_t *o)
{
    uint32_t job, volume, process = NO_INDEX, before = batch->record_count;
    const char *name;
    enum operation op;
    struct record *record;
    int err;

    if ((err = field_index(p, o, "job", batch->job_count, &job)) ||
        (err = field_index(p, o, "volume", batch->volume_count, &volume)) ||
        (err = field_text(p, o, "op", &name)))
        return err;
    if (json_object_get(o, "process") &&
        (err = field_index(p, o, "process", batch->process_count, &process)))
        return err;
    op = operation_by_name(name);
    if (op == OP_NONE)
        return field_refuse(p, "op", "\"%.40s\" is no operation", name);
    err = batch_record(batch, job, volume, process, op, &record);
    if (err)
        return err;
    if (batch->record_count == before)
        return field_refuse(p, NULL,
                            "has the job, volume, process and operation of another record");
    if ((err = field_count(p, o, "bytes", &record->bytes)) ||
        (err = field_count(p, o, "errors", &record->errors)) ||
        (err = field_count(p, o, "latency_sum_ns", &record->latency_sum_ns)) ||
        (err = field_histogram(p, o, "latency_ns", &record->latency_ns)))
        return err;
    if ((json_object_get(o, "order") && (err = field_counts(p, o, "order", ORDER_COUNT, record->order))) ||
        (json_object_get(o, "cache") && (err = field_counts(p, o, "cache", CACHE_COUNTS, record->cache))) ||
        (json_object_get(o, "faults") && (err = field_counts(p, o, "faults", FAULT_KINDS, record->faults))) ||
        (json_object_get(o, "error_codes") && (err = decode_errors(p, o, record))) ||
        (json_object_get(o, "in_flight") &&
         (err = field_count(p, o, "in_flight", &record->in_flight))) ||
        (json_object_get(o, "oldest_ns") && (err = field_count(p, o, "oldest_ns", &record->oldest_ns))) ||
        (json_object_get(o, "in_flight_ns") &&
         (err = field_count(p, o, "in_flight_ns", &record->in_flight_ns))))
        return err;
    if ((json_object_get(o, "size") && (err = field_histogram(p, o, "size", &record->size))) ||
        (json_object_get(o, "joint") && (err = field_joint(p, o, "joint", &record->joint))))
        return err;
    return codec_counts_check(p, record);
}

/* Runs a decoder over each object of a table. */
static int decode_table(struct batch *batch, struct codec_error *error, const json_t *root,
                        const char *key, size_t max,
                        int (*decode)(struct batch *, const struct field_place *, json_t *))
{
    struct field_place top = {.error = error}, p = {.error = error, .table = key, .indexed = true};
    json_t *array, *element;
    int err = field_array(&top, root, key, max, &array);

    if (err)
        return err;
    json_array_foreach(array, p.at, element)
    {
        err = json_is_object(element) ? decode(batch, &p, element)
                                      : field_refuse(&p, NULL, "is not an object");
        if (err)
            return err;
    }
    return 0;
}

static int decode_text(struct batch *batch, const struct field_place *top, const json_t *root,
                       const char *key, const char **field)
{
    const char *value = NULL;
    int err = field_text(top, root, key, &value);

    return err ? err : batch_set(batch, field, value);
}

static int decode_head(struct batch *batch, const struct field_place *top, const json_t *root)
{
    const char *schema = NULL;
    uint64_t pressure[2];
    int err = field_text(top, root, "schema", &schema);

    if (err)
        return err;
    if (strcmp(schema, CODEC_SCHEMA) != 0)
        return field_refuse(top, "schema", "is \"%.40s\", not \"" CODEC_SCHEMA "\"", schema);
    if ((err = decode_text(batch, top, root, "cluster", &batch->cluster)) ||
        (err = decode_text(batch, top, root, "node", &batch->node)) ||
        (err = decode_text(batch, top, root, "role", &batch->role)) ||
        (err = decode_text(batch, top, root, "kernel", &batch->kernel)) ||
        (err = decode_text(batch, top, root, "boot_id", &batch->boot_id)) ||
        (err = decode_text(batch, top, root, "stream", &batch->stream)) ||
        (err = field_count(top, root, "seq", &batch->seq)) ||
        (err = field_time(top, root, "start_ns", &batch->start_ns)) ||
        (err = field_count(top, root, "duration_ns", &batch->duration_ns)) ||
        (err = field_u32(top, root, "interval_ms", &batch->interval_ms)))
        return err;
    if (batch->duration_ns > (uint64_t)(INT64_MAX - batch->start_ns))
        return field_refuse(top, "duration_ns", "ends after the last moment that has a number");
    if (json_object_get(root, "io_pressure")) {
        if ((err = field_counts(top, root, "io_pressure", 2, pressure)))
            return err;
        batch->pressure = (struct pressure){true, pressure[0], pressure[1]};
    }
    return 0;
}

/*
 * Before the parser makes a tree of it: how deep it is, and how many arrays and objects it has.
 * "{}," takes three bytes on the wire and some hundred in memory, so the size alone is no bound.
 */
static int survey(const struct field_place *top, const char *json, size_t size)
{
    size_t depth = 0, containers = 0;
    bool string = false;

    for (size_t i = 0; i < size; i++) {
        char c = json[i];

        if (string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                string = false;
        } else if (c == '"') {
            string = true;
        } else if (c == '{' || c == '[') {
            containers++;
            if (++depth > CODEC_DEPTH_MAX)
                return field_refuse(top, NULL, "is nested more than %d deep", CODEC_DEPTH_MAX);
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
        }
    }
    if (containers > CONTAINERS_MAX)
        return field_refuse(top, NULL, "has more than %d arrays and objects", CONTAINERS_MAX);
    return 0;
}

/* What is JSON all the same, and what the parser has no room for, is said of its member. */
static int refuse_syntax(const struct field_place *top, const char *json, size_t size, const json_error_t *syntax)
{
    const enum json_error_code code = json_error_code(syntax);
    size_t position = (size_t)syntax->position < size ? (size_t)syntax->position : size;
    char field[sizeof(top->error->field)];

    if (code != json_error_numeric_overflow && code != json_error_null_character)
        return field_refuse(top, NULL, "is no JSON: column %d: %s", syntax->column, syntax->text);
    codec_place(json, position, field, sizeof(field));
    if (code == json_error_null_character)
        return field_refuse(top, field, "holds \\u0000, which no name has");
    return field_refuse(top, field, "is a number that is too large");
}

int codec_decode(const char *json, size_t size, struct batch **out, struct codec_error *error)
{
    const struct field_place top = {.error = error};
    _cleanup_(batch_freep) struct batch *batch = NULL;
    json_auto_t *root = NULL;
    json_error_t syntax;
    int err = survey(&top, json, size);

    if (err)
        return err;
    root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &syntax);
    if (!root && (!*syntax.text || json_error_code(&syntax) == json_error_out_of_memory))
        return -ENOMEM; /* for most allocations jansson says nothing at all */
    if (!root)
        return refuse_syntax(&top, json, size, &syntax);
    if (!json_is_object(root))
        return field_refuse(&top, NULL, "is no JSON object");
    err = batch_new(&batch);
    if (err)
        return err;
    if ((err = decode_head(batch, &top, root)) ||
        (err = decode_table(batch, error, root, "jobs", UINT32_MAX, decode_job)) ||
        (err = decode_table(batch, error, root, "volumes", UINT32_MAX, decode_volume)))
        return err;
    if (json_object_get(root, "processes") &&
        (err = decode_table(batch, error, root, "processes", UINT32_MAX, decode_process)))
        return err;
    if ((err = decode_table(batch, error, root, "records", CODEC_RECORDS_MAX, decode_record)) ||
        (err = codec_flows_decode(batch, error, root)) ||
        (err = codec_stations_decode(batch, error, root)) ||
        (err = codec_trees_decode(batch, error, root)) || (err = codec_coverage(batch, error, root)))
        return err;
    *out = take_pointer(batch);
    return 0;
}
