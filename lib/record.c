/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/record_private.h"
#include "lib/utf8.h"
#include "lib/vector.h"

const char *const shed_names[SHED_COUNT] = {"job_keys", "metadata_only", "detached"};

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
    histogram_clear(&record->joint);
    histogram_clear(&record->latency_ns);
    histogram_clear(&record->error_codes);
}

void batch_forget_counts(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->record_count; i++)
        record_clear(&batch->records[i]);
    for (uint32_t i = 0; i < batch->flow_count; i++)
        flow_clear(&batch->flows[i]);
    for (uint32_t i = 0; i < batch->station_count; i++)
        station_clear(&batch->stations[i]);
    batch->record_count = batch->flow_count = batch->station_count = 0;
    lookup_clear(&batch->index->records);
    lookup_clear(&batch->index->flows);
    lookup_clear(&batch->index->stations);
    batch_forget_trees(batch);
}

void batch_free(struct batch *batch)
{
    if (!batch)
        return;
    batch_forget_counts(batch);
    lookup_clear(&batch->index->jobs);
    lookup_clear(&batch->index->volumes);
    lookup_clear(&batch->index->processes);
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

int batch_make_room(void **array, uint32_t *capacity, uint32_t count, size_t size, struct lookup *lookup)
{
    int err = vector_grow(array, capacity, count, size);

    return err ? err : lookup_reserve(lookup);
}

const char *batch_copy_text(struct batch *batch, const char *value)
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
    copy = batch_copy_text(batch, value);
    if (!copy)
        return -ENOMEM;
    *field = copy;
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
    if (batch_make_room((void **)&batch->records, &batch->index->record_capacity, batch->record_count,
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
    if (batch_make_room((void **)&batch->flows, &batch->index->flow_capacity, batch->flow_count, sizeof(**out),
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
    if (batch_make_room((void **)&batch->stations, &batch->index->station_capacity, batch->station_count,
                        sizeof(*station), &batch->index->stations))
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
        name = batch_copy_text(batch, name);
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
        batch_make_room((void **)&batch->trees, &batch->index->tree_capacity, batch->tree_count, sizeof(fresh),
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
