/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lookup.h"
#include "lib/utf8.h"

const char *const shed_names[SHED_COUNT] = {"job_keys", "metadata_only", "detached"};

struct batch_index {
    struct lookup jobs, volumes, processes, records, flows, stations, trees;
    uint32_t job_capacity, volume_capacity, process_capacity, record_capacity, flow_capacity,
        station_capacity, tree_capacity;
};

int batch_new(struct batch **out)
{
    struct batch *batch = calloc(1, sizeof(*batch));

    if (!batch)
        return -ENOMEM;
    batch->index = calloc(1, sizeof(*batch->index));
    if (!batch->index) {
        free(batch);
        return -ENOMEM;
    }
    batch->cluster = batch->node = batch->role = batch->kernel = "";
    batch->boot_id = batch->stream = "";
    *out = batch;
    return 0;
}

void record_clear(struct record *record)
{
    histogram_clear(&record->size);
    histogram_clear(&record->latency_ns);
    histogram_clear(&record->error_codes);
}

void batch_free(struct batch *batch)
{
    if (!batch)
        return;
    for (uint32_t i = 0; i < batch->record_count; i++)
        record_clear(&batch->records[i]);
    for (uint32_t i = 0; i < batch->flow_count; i++)
        flow_clear(&batch->flows[i]);
    for (uint32_t i = 0; i < batch->station_count; i++)
        station_clear(&batch->stations[i]);
    batch_forget_trees(batch);
    lookup_clear(&batch->index->jobs);
    lookup_clear(&batch->index->volumes);
    lookup_clear(&batch->index->processes);
    lookup_clear(&batch->index->records);
    lookup_clear(&batch->index->flows);
    lookup_clear(&batch->index->stations);
    free(batch->index);
    free(batch->jobs);
    free(batch->volumes);
    free(batch->processes);
    free(batch->records);
    free(batch->flows);
    free(batch->stations);
    free(batch->trees);
    arena_clear(&batch->arena);
    free(batch);
}

/* Room for one more element of a table and of its index. */
static int make_room(void **array, uint32_t *capacity, uint32_t count, size_t size,
                     struct lookup *lookup)
{
    uint32_t wanted = *capacity ? *capacity * 2 : 8;
    void *grown;

    if (count == *capacity) {
        grown = reallocarray(*array, wanted, size);
        if (!grown)
            return -ENOMEM;
        *array = grown;
        *capacity = wanted;
    }
    return lookup_reserve(lookup);
}

/*
 * A copy that can be encoded. Names are keys, so they are repaired on the way in: two that look the
 * same on the wire are the same here, too.
 */
static const char *copy_text(struct batch *batch, const char *value)
{
    char *copy;

    if (utf8_valid(value))
        return arena_strdup(&batch->arena, value);
    copy = arena_alloc(&batch->arena, UTF8_REPAIRED(strlen(value)));
    if (copy)
        utf8_repair(copy, value);
    return copy;
}

int batch_set(struct batch *batch, const char **field, const char *value)
{
    const char *copy;

    if (*field && strcmp(*field, value) == 0)
        return 0;
    copy = copy_text(batch, value);
    if (!copy)
        return -ENOMEM;
    *field = copy;
    return 0;
}

/* Takes a string over where the old one says nothing. */
static int fill(struct batch *batch, const char **field, const char *value)
{
    return value && *value && !(*field && **field) ? batch_set(batch, field, value) : 0;
}

static int fill_labels(struct batch *batch, struct job *job, const struct job *from)
{
    struct label *labels;

    if (job->label_count || !from->label_count)
        return 0;
    labels = arena_alloc(&batch->arena, from->label_count * sizeof(*labels));
    if (!labels)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->label_count; i++)
        if (batch_set(batch, &labels[i].name, from->labels[i].name) ||
            batch_set(batch, &labels[i].value, from->labels[i].value))
            return -ENOMEM;
    job->labels = labels;
    job->label_count = from->label_count;
    return 0;
}

static int find_job(struct batch *batch, const char *name, uint32_t *out)
{
    uint32_t hash, cursor, at;
    struct job job = {.kind = "", .command = "", .exit = -1};

    if (!utf8_valid(name)) {
        name = copy_text(batch, name);
        if (!name)
            return -ENOMEM;
    }
    cursor = hash = lookup_hash(name, strlen(name));
    while (lookup_next(&batch->index->jobs, hash, &cursor, &at))
        if (strcmp(batch->jobs[at].name, name) == 0) {
            *out = at;
            return 0;
        }
    if (batch_set(batch, &job.name, name) ||
        make_room((void **)&batch->jobs, &batch->index->job_capacity, batch->job_count, sizeof(job),
                  &batch->index->jobs))
        return -ENOMEM;
    batch->jobs[batch->job_count] = job;
    lookup_insert(&batch->index->jobs, hash, batch->job_count);
    *out = batch->job_count++;
    return 0;
}

int batch_job(struct batch *batch, const struct job *from, uint32_t *out)
{
    struct job *job;
    uint32_t at;
    int err = find_job(batch, from->name, &at);

    if (err)
        return err;
    job = &batch->jobs[at];
    if (fill(batch, &job->kind, from->kind) || fill(batch, &job->user, from->user) ||
        fill(batch, &job->command, from->command) || fill_labels(batch, job, from))
        return -ENOMEM;
    if (from->start_ns && (!job->start_ns || from->start_ns < job->start_ns))
        job->start_ns = from->start_ns;
    if (from->end_ns)
        job->end_ns = from->end_ns;
    if (from->exit >= 0)
        job->exit = from->exit;
    *out = at;
    return 0;
}

static int find_volume(struct batch *batch, const char *name, uint32_t *out)
{
    uint32_t hash, cursor, at;
    struct volume volume = {.source = "", .fstype = ""};

    if (!utf8_valid(name)) {
        name = copy_text(batch, name);
        if (!name)
            return -ENOMEM;
    }
    cursor = hash = lookup_hash(name, strlen(name));
    while (lookup_next(&batch->index->volumes, hash, &cursor, &at))
        if (strcmp(batch->volumes[at].name, name) == 0) {
            *out = at;
            return 0;
        }
    if (batch_set(batch, &volume.name, name) ||
        make_room((void **)&batch->volumes, &batch->index->volume_capacity, batch->volume_count,
                  sizeof(volume), &batch->index->volumes))
        return -ENOMEM;
    batch->volumes[batch->volume_count] = volume;
    lookup_insert(&batch->index->volumes, hash, batch->volume_count);
    *out = batch->volume_count++;
    return 0;
}

int batch_volume(struct batch *batch, const struct volume *from, uint32_t *out)
{
    struct volume *volume;
    uint32_t at;
    int err = find_volume(batch, from->name, &at);

    if (err)
        return err;
    volume = &batch->volumes[at];
    if (fill(batch, &volume->source, from->source) || fill(batch, &volume->fstype, from->fstype) ||
        fill(batch, &volume->lower, from->lower))
        return -ENOMEM;
    if (from->scope == SCOPE_SHARED)
        volume->scope = SCOPE_SHARED;
    if (from->has_space) {
        volume->has_space = true;
        volume->space = from->space;
    }
    if (!volume->mount_count && from->mount_count) {
        const char **mounts = arena_alloc(&batch->arena, from->mount_count * sizeof(*mounts));

        if (!mounts)
            return -ENOMEM;
        for (uint32_t i = 0; i < from->mount_count; i++)
            if (batch_set(batch, &mounts[i], from->mounts[i]))
                return -ENOMEM;
        volume->mounts = mounts;
        volume->mount_count = from->mount_count;
    }
    *out = at;
    return 0;
}

int batch_process(struct batch *batch, const struct process *from, uint32_t *out)
{
    const int64_t key[3] = {from->pid, from->tid, from->start_ns};
    uint32_t hash = lookup_hash(key, sizeof(key)), cursor = hash, at;
    struct process *process = NULL;

    if (from->job >= batch->job_count)
        return -EINVAL;
    while (!process && lookup_next(&batch->index->processes, hash, &cursor, &at))
        if (batch->processes[at].pid == from->pid && batch->processes[at].tid == from->tid &&
            batch->processes[at].start_ns == from->start_ns)
            process = &batch->processes[at];
    if (!process) {
        if (make_room((void **)&batch->processes, &batch->index->process_capacity,
                      batch->process_count, sizeof(*process), &batch->index->processes))
            return -ENOMEM;
        at = batch->process_count++;
        process = &batch->processes[at];
        *process = *from;
        process->command = "";
        lookup_insert(&batch->index->processes, hash, at);
    }
    process->job = from->job;
    process->exited |= from->exited;
    if (from->command && *from->command && batch_set(batch, &process->command, from->command))
        return -ENOMEM;
    *out = at;
    return 0;
}

int batch_record(struct batch *batch, uint32_t job, uint32_t volume, uint32_t process,
                 enum operation op, struct record **out)
{
    const uint32_t key[4] = {job, volume, process, (uint32_t)op};
    uint32_t hash = lookup_hash(key, sizeof(key)), cursor = hash, at;

    if (job >= batch->job_count || volume >= batch->volume_count || !operation_info(op) ||
        (process >= batch->process_count && process != NO_INDEX))
        return -EINVAL;
    while (lookup_next(&batch->index->records, hash, &cursor, &at)) {
        struct record *record = &batch->records[at];

        if (record->job == job && record->volume == volume && record->process == process &&
            record->op == op) {
            *out = record;
            return 0;
        }
    }
    if (make_room((void **)&batch->records, &batch->index->record_capacity, batch->record_count,
                  sizeof(**out), &batch->index->records))
        return -ENOMEM;
    at = batch->record_count++;
    batch->records[at] =
        (struct record){.job = job, .volume = volume, .process = process, .op = op};
    lookup_insert(&batch->index->records, hash, at);
    *out = &batch->records[at];
    return 0;
}

int batch_flow(struct batch *batch, uint32_t job, uint32_t volume, struct flow **out)
{
    const uint32_t key[2] = {job, volume};
    uint32_t hash = lookup_hash(key, sizeof(key)), cursor = hash, at;

    if (job >= batch->job_count || volume >= batch->volume_count)
        return -EINVAL;
    while (lookup_next(&batch->index->flows, hash, &cursor, &at))
        if (batch->flows[at].job == job && batch->flows[at].volume == volume) {
            *out = &batch->flows[at];
            return 0;
        }
    if (make_room((void **)&batch->flows, &batch->index->flow_capacity, batch->flow_count, sizeof(**out),
                  &batch->index->flows))
        return -ENOMEM;
    at = batch->flow_count++;
    batch->flows[at] = (struct flow){.job = job, .volume = volume};
    lookup_insert(&batch->index->flows, hash, at);
    *out = &batch->flows[at];
    return 0;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

int batch_station(struct batch *batch, const struct station *key, struct station **out)
{
    const uint32_t words[5] = {key->layer, key->volume, key->request, key->party, key->job};
    uint32_t hash = lookup_hash(words, sizeof(words)), cursor = hash, at;
    struct station *station;

    if (key->volume >= batch->volume_count || (key->job >= batch->job_count && key->job != NO_INDEX))
        return -EINVAL;
    while (lookup_next(&batch->index->stations, hash, &cursor, &at)) {
        station = &batch->stations[at];
        if (station->layer == key->layer && station->volume == key->volume && station->request == key->request &&
            station->party == key->party && station->job == key->job && same_text(station->server, key->server)) {
            *out = station;
            return 0;
        }
    }
    if (make_room((void **)&batch->stations, &batch->index->station_capacity, batch->station_count, sizeof(*station),
                  &batch->index->stations))
        return -ENOMEM;
    station = &batch->stations[batch->station_count];
    *station = (struct station){
        .layer = key->layer, .volume = key->volume, .request = key->request, .party = key->party, .job = key->job};
    if (key->server && batch_set(batch, &station->server, key->server))
        return -ENOMEM;
    lookup_insert(&batch->index->stations, hash, batch->station_count++);
    *out = station;
    return 0;
}

int batch_tree(struct batch *batch, uint32_t job, uint32_t volume, const char *name, struct tree **out)
{
    const uint32_t words[2] = {job, volume};
    uint32_t hash, cursor, at;
    struct tree fresh = {.job = job, .volume = volume};

    if (job >= batch->job_count || volume >= batch->volume_count)
        return -EINVAL;
    if (!utf8_valid(name)) {
        name = copy_text(batch, name);
        if (!name)
            return -ENOMEM;
    }
    cursor = hash = lookup_hash(words, sizeof(words)) ^ lookup_hash(name, strlen(name));
    while (lookup_next(&batch->index->trees, hash, &cursor, &at)) {
        const struct tree *tree = &batch->trees[at];

        if (tree->job == job && tree->volume == volume && strcmp(tree->name, name) == 0) {
            *out = &batch->trees[at];
            return 0;
        }
    }
    if (batch_set(batch, &fresh.name, name) ||
        make_room((void **)&batch->trees, &batch->index->tree_capacity, batch->tree_count, sizeof(fresh),
                  &batch->index->trees))
        return -ENOMEM;
    at = batch->tree_count++;
    batch->trees[at] = fresh;
    lookup_insert(&batch->index->trees, hash, at);
    *out = &batch->trees[at];
    return 0;
}

void batch_forget_trees(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->tree_count; i++)
        tree_clear(&batch->trees[i]);
    batch->tree_count = 0;
    lookup_clear(&batch->index->trees);
}

int batch_hooks(struct batch *batch, const struct hook *from, uint32_t count)
{
    struct hook *hooks = arena_alloc(&batch->arena, count * sizeof(*hooks));

    if (!hooks)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        hooks[i].attached = from[i].attached;
        if (batch_set(batch, &hooks[i].name, from[i].name) ||
            (from[i].why && batch_set(batch, &hooks[i].why, from[i].why)))
            return -ENOMEM;
    }
    batch->coverage.hooks = hooks;
    batch->coverage.hook_count = count;
    return 0;
}

int batch_bypasses(struct batch *batch, const struct bypass *from, uint32_t count)
{
    struct bypass *bypasses = arena_alloc(&batch->arena, count * sizeof(*bypasses));

    if (!bypasses)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (batch_set(batch, &bypasses[i].what, from[i].what) ||
            batch_set(batch, &bypasses[i].device, from[i].device) ||
            batch_set(batch, &bypasses[i].why, from[i].why))
            return -ENOMEM;
    batch->coverage.bypasses = bypasses;
    batch->coverage.bypass_count = count;
    return 0;
}

int batch_dropped(struct batch *batch, const struct dropped *from, uint32_t count)
{
    struct dropped *dropped = arena_alloc(&batch->arena, count * sizeof(*dropped));

    if (!dropped)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        dropped[i] = from[i];
        dropped[i].stream = dropped[i].why = NULL; /* copies, even of what is equal */
        if (batch_set(batch, &dropped[i].stream, from[i].stream) || batch_set(batch, &dropped[i].why, from[i].why))
            return -ENOMEM;
    }
    batch->coverage.dropped = dropped;
    batch->coverage.dropped_count = count;
    return 0;
}
