/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec_errors.h"
#include "lib/codec_flow.h"
#include "lib/codec_station.h"
#include "lib/codec_tree.h"
#include "lib/utf8.h"

/* Encoding; decoding is in codec_decode.c. Every function that makes a value returns NULL without
 * memory. */

static json_t *text(const char *s)
{
    _cleanup_free_ char *repaired = NULL;

    if (utf8_valid(s))
        return json_string_nocheck(s);
    repaired = malloc(UTF8_REPAIRED(strlen(s)));
    if (!repaired)
        return NULL;
    utf8_repair(repaired, s);
    return json_string_nocheck(repaired);
}

static json_t *text_or_null(const char *s)
{
    return s ? text(s) : json_null();
}

/* JSON integers end at 2^63 - 1: what does not fit stays there and never wraps. */
static json_t *count(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *moment(int64_t ns)
{
    return json_integer(ns > 0 ? ns : 0);
}

static json_t *moment_or_null(int64_t ns)
{
    return ns > 0 ? moment(ns) : json_null();
}

static json_t *histogram(const struct histogram *h)
{
    _cleanup_free_ char *pairs = codec_histogram_encode(h);

    return pairs ? json_string_nocheck(pairs) : NULL;
}

/* True when it failed; both take the value over and put up with NULL. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new_nocheck(object, key, value) != 0;
}

static bool add(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) != 0;
}

static json_t *finish(json_t *value, bool failed)
{
    if (failed) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static json_t *labels_of(const struct job *job)
{
    json_t *object = json_object();
    bool failed = false;

    for (uint32_t i = 0; i < job->label_count && !failed; i++) {
        _cleanup_free_ char *name = malloc(UTF8_REPAIRED(strlen(job->labels[i].name)));

        if (name)
            utf8_repair(name, job->labels[i].name);
        failed = !name || put(object, name, text(job->labels[i].value));
    }
    return finish(object, failed);
}

static json_t *gpu_of(const struct gpu_time *gpu)
{
    json_t *array = json_array();

    return finish(array, add(array, count(gpu->watched_ns)) || add(array, count(gpu->idle_ns)) ||
                             add(array, count(gpu->io_ns)) || add(array, count(gpu->idle_io_ns)) ||
                             add(array, count(gpu->idle_exposed_ns)) || add(array, count(gpu->calm_ns)) ||
                             add(array, count(gpu->idle_calm_ns)));
}

static json_t *job_value(const struct job *job)
{
    json_t *o = json_object();

    return finish(o, put(o, "job", text(job->name)) || put(o, "kind", text(job->kind)) ||
                         put(o, "user", text_or_null(job->user)) ||
                         put(o, "command", text(job->command)) ||
                         put(o, "labels", labels_of(job)) ||
                         put(o, "start_ns", moment_or_null(job->start_ns)) ||
                         put(o, "end_ns", moment_or_null(job->end_ns)) ||
                         put(o, "exit", job->exit >= 0 ? json_integer(job->exit) : json_null()) ||
                         (job->watched_ns && (put(o, "watched_ns", count(job->watched_ns)) ||
                                              put(o, "exposed_ns", count(job->exposed_ns)))) ||
                         (job->gpu.watched_ns && put(o, "gpu", gpu_of(&job->gpu))));
}

static json_t *mounts_of(const struct volume *volume)
{
    json_t *array = json_array();
    bool failed = false;

    for (uint32_t i = 0; i < volume->mount_count && !failed; i++)
        failed = add(array, text(volume->mounts[i]));
    return finish(array, failed);
}

static json_t *space_of(const struct space *space)
{
    json_t *array = json_array();

    return finish(array, add(array, count(space->used_bytes)) || add(array, count(space->total_bytes)) ||
                             add(array, count(space->used_files)) || add(array, count(space->total_files)));
}

static json_t *volume_value(const struct volume *volume)
{
    json_t *o = json_object();

    return finish(o,
                  put(o, "volume", text(volume->name)) || put(o, "source", text(volume->source)) ||
                      put(o, "fstype", text(volume->fstype)) ||
                      put(o, "scope", text(volume->scope == SCOPE_SHARED ? "shared" : "local")) ||
                      put(o, "mounts", mounts_of(volume)) ||
                      (volume->lower && put(o, "lower", text(volume->lower))) ||
                      (volume->has_space && put(o, "space", space_of(&volume->space))));
}

static json_t *process_value(const struct process *process)
{
    json_t *o = json_object();

    return finish(o, put(o, "pid", count(process->pid)) ||
                         (process->tid && put(o, "tid", count(process->tid))) || put(o, "uid", count(process->uid)) ||
                         put(o, "start_ns", moment(process->start_ns)) ||
                         put(o, "command", text(process->command)) ||
                         put(o, "job", count(process->job)) ||
                         put(o, "exited", json_boolean(process->exited)));
}

static bool any(const uint64_t *counts, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        if (counts[i])
            return true;
    return false;
}

static json_t *counts(const uint64_t *numbers, unsigned length)
{
    json_t *list = json_array();
    bool failed = !list;

    for (unsigned i = 0; i < length; i++)
        failed |= json_array_append_new(list, count(numbers[i])) != 0;
    return finish(list, failed);
}

static json_t *record_value(const struct record *r)
{
    json_t *o = json_object();

    return finish(o, put(o, "job", count(r->job)) || put(o, "volume", count(r->volume)) ||
                         (r->process != NO_INDEX && put(o, "process", count(r->process))) ||
                         put(o, "op", json_string_nocheck(operation_info(r->op)->name)) ||
                         put(o, "bytes", count(r->bytes)) || put(o, "errors", count(r->errors)) ||
                         put(o, "latency_sum_ns", count(r->latency_sum_ns)) ||
                         (any(r->order, ORDER_COUNT) && put(o, "order", counts(r->order, ORDER_COUNT))) ||
                         (any(r->cache, CACHE_COUNTS) && put(o, "cache", counts(r->cache, CACHE_COUNTS))) ||
                         (any(r->faults, FAULT_KINDS) && put(o, "faults", counts(r->faults, FAULT_KINDS))) ||
                         (r->error_codes.length && put(o, "error_codes", codec_errors_encode(&r->error_codes))) ||
                         (r->in_flight && put(o, "in_flight", count(r->in_flight))) ||
                         (r->oldest_ns && put(o, "oldest_ns", count(r->oldest_ns))) ||
                         (r->in_flight_ns && put(o, "in_flight_ns", count(r->in_flight_ns))) ||
                         (r->size.length && put(o, "size", histogram(&r->size))) ||
                         (r->joint.length && put(o, "joint", histogram(&r->joint))) ||
                         put(o, "latency_ns", histogram(&r->latency_ns)));
}

static json_t *hook_value(const struct hook *hook)
{
    json_t *o = json_object();

    return finish(o, put(o, "hook", text(hook->name)) ||
                         put(o, "state", text(hook->attached ? "attached" : "unavailable")) ||
                         put(o, "why", text_or_null(hook->why)));
}

static json_t *bypass_value(const struct bypass *bypass)
{
    json_t *o = json_object();

    return finish(o, put(o, "what", text(bypass->what)) || put(o, "device", text(bypass->device)) ||
                         put(o, "bytes", json_null()) || put(o, "why", text(bypass->why)));
}

static json_t *dropped_value(const struct dropped *dropped)
{
    json_t *o = json_object();

    return finish(o, put(o, "stream", text(dropped->stream)) || put(o, "first_seq", count(dropped->first)) ||
                         put(o, "last_seq", count(dropped->last)) ||
                         put(o, "ops", dropped->ops == DROPPED_UNKNOWN ? json_null() : count(dropped->ops)) ||
                         put(o, "start_ns", moment_or_null(dropped->start_ns)) ||
                         put(o, "end_ns", moment_or_null(dropped->end_ns)) || put(o, "why", text(dropped->why)));
}

/* An array of what the function makes of each element of a table. */
#define TABLE(name, type)                                                                          \
    static json_t *name##_table(const struct type *table, uint32_t length)                         \
    {                                                                                              \
        json_t *array = json_array();                                                              \
        bool failed = false;                                                                       \
                                                                                                   \
        for (uint32_t i = 0; i < length && !failed; i++)                                           \
            failed = add(array, name##_value(&table[i]));                                          \
        return finish(array, failed);                                                              \
    }

TABLE(job, job)
TABLE(volume, volume)
TABLE(process, process)
TABLE(record, record)
TABLE(hook, hook)
TABLE(bypass, bypass)
TABLE(dropped, dropped)

/* {"job_keys": N, ...} in ms, of what was left out at all; NULL for nothing. */
static json_t *shed_value(const struct coverage *c)
{
    json_t *o = NULL;
    bool failed = false;

    for (unsigned i = 0; i < SHED_COUNT; i++) {
        if (!c->shed_ms[i])
            continue;
        if (!o)
            o = json_object();
        failed = failed || put(o, shed_names[i], count(c->shed_ms[i]));
    }
    return o ? finish(o, failed) : NULL;
}

static bool sheds(const struct coverage *c)
{
    return c->shed_ms[SHED_JOB_KEYS] || c->shed_ms[SHED_METADATA_ONLY] || c->shed_ms[SHED_DETACHED];
}

static json_t *coverage_value(const struct coverage *c)
{
    json_t *o = json_object();

    return finish(o, put(o, "lost_ops", count(c->lost)) || put(o, "killed_ops", count(c->killed)) ||
                         put(o, "in_flight_ops", count(c->in_flight)) ||
                         put(o, "unattributed_ops", count(c->unattributed)) ||
                         put(o, "overflow_ops", count(c->overflow)) ||
                         (sheds(c) && put(o, "shed_ms", shed_value(c))) ||
                         put(o, "hooks", hook_table(c->hooks, c->hook_count)) ||
                         put(o, "bypass", bypass_table(c->bypasses, c->bypass_count)) ||
                         (c->dropped_count && put(o, "dropped", dropped_table(c->dropped, c->dropped_count))));
}

/* [some_ns, full_ns] */
static json_t *pressure_value(const struct pressure *pressure)
{
    json_t *array = json_array();

    return finish(array, add(array, count(pressure->some_ns)) || add(array, count(pressure->full_ns)));
}

int codec_encode(const struct batch *b, char **out, size_t *size)
{
    json_auto_t *o = json_object();
    char *json;

    if (put(o, "schema", text(CODEC_SCHEMA)) || put(o, "cluster", text(b->cluster)) ||
        put(o, "node", text(b->node)) || put(o, "role", text(b->role)) ||
        put(o, "kernel", text(b->kernel)) || put(o, "boot_id", text(b->boot_id)) ||
        put(o, "stream", text(b->stream)) || put(o, "seq", count(b->seq)) ||
        put(o, "start_ns", moment(b->start_ns)) || put(o, "duration_ns", count(b->duration_ns)) ||
        put(o, "interval_ms", count(b->interval_ms)) ||
        (b->pressure.known && put(o, "io_pressure", pressure_value(&b->pressure))) ||
        put(o, "jobs", job_table(b->jobs, b->job_count)) ||
        put(o, "volumes", volume_table(b->volumes, b->volume_count)) ||
        (b->process_count && put(o, "processes", process_table(b->processes, b->process_count))) ||
        put(o, "records", record_table(b->records, b->record_count)) ||
        (b->flow_count && (put(o, "slot_ms", count(FLOW_SLOT_MS)) || put(o, "flows", codec_flows(b)))) ||
        (b->station_count && put(o, "storage", codec_stations(b))) ||
        (b->tree_count && put(o, "trees", codec_trees(b))) ||
        put(o, "coverage", coverage_value(&b->coverage)))
        return -ENOMEM;
    json = json_dumps(o, JSON_COMPACT);
    if (!json)
        return -ENOMEM;
    *size = strlen(json);
    *out = json;
    return 0;
}
