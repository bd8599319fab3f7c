/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/shared.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/bpf/abi.h"
#include "probe/bpf/ownerabi.h"

/* Where operations go that belong to no job: writeback, and what the kernel does for itself. */
static const struct job kernel_job = {
    .name = "(kernel)", .kind = "command", .command = "(kernel)", .exit = -1};

struct seen {
    struct abi_shared_key key;
    struct abi_shared_row row;
};

struct shared_rows {
    int shared_map, last_map;
    struct seen *seen; /* in the order of their first appearance */
    uint32_t count;
};

int shared_rows_new(int shared_map, int last_map, struct shared_rows **out)
{
    struct shared_rows *rows = calloc(1, sizeof(*rows));

    if (!rows)
        return -ENOMEM;
    rows->shared_map = shared_map;
    rows->last_map = last_map;
    *out = rows;
    return 0;
}

void shared_rows_free(struct shared_rows *rows)
{
    if (!rows)
        return;
    free(rows->seen);
    free(rows);
}

static struct seen *find(struct shared_rows *rows, const struct abi_shared_key *key)
{
    struct seen *grown;

    for (uint32_t i = 0; i < rows->count; i++)
        if (memcmp(&rows->seen[i].key, key, sizeof(*key)) == 0)
            return &rows->seen[i];
    grown = reallocarray(rows->seen, rows->count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    rows->seen = grown;
    grown[rows->count] = (struct seen){.key = *key};
    return &grown[rows->count++];
}

static int add_buckets(struct histogram *histogram, const uint32_t *now, const uint32_t *before,
                       unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (now[i] != before[i]) {
            int err = histogram_add_bucket(histogram, i, now[i] - before[i]);

            if (err)
                return err;
        }
    return 0;
}

static int drain_row(struct shared_rows *rows, const struct abi_shared_key *key,
                     const struct abi_shared_row *now, struct volumes *volumes,
                     struct origin *origin, int64_t since, int64_t until, struct batch *batch)
{
    struct seen *seen = find(rows, key);
    struct job *job = origin_find(origin, key->job);
    struct record *record;
    uint32_t job_index, volume;
    uint64_t ops;
    int err;

    if (!seen)
        return -ENOMEM;
    if (memcmp(&seen->row, now, sizeof(*now)) == 0)
        return 0;
    err = batch_job(batch, job ? job : &kernel_job, &job_index);
    if (!err)
        err = volumes_name(volumes, key->volume, batch, &volume);
    if (!err)
        err = batch_record(batch, job_index, volume, NO_INDEX, key->op, &record);
    if (err)
        return err;
    ops = record_ops(record);
    err = add_buckets(&record->size, now->size, seen->row.size, ABI_SIZE_BUCKETS);
    if (!err)
        err = add_buckets(&record->latency_ns, now->latency, seen->row.latency,
                          ABI_LATENCY_BUCKETS);
    if (err)
        return err;
    record->bytes += now->bytes - seen->row.bytes;
    record->errors += now->errors - seen->row.errors;
    record->latency_sum_ns += now->latency_sum_ns - seen->row.latency_sum_ns;
    if (operation_is_file(key->op)) {
        struct demand_slot amount =
            demand_of(key->op, record_ops(record) - ops, now->bytes - seen->row.bytes);
        struct flow *flow;

        err = batch_flow(batch, job_index, volume, &flow);
        if (!err)
            err = flow_spread(flow, since, until > since ? until - 1 : since, &amount);
        if (err)
            return err;
    }
    seen->row = *now;
    if (!job || key->volume == ABI_VOLUME_UNKNOWN)
        batch->coverage.unattributed += record_ops(record) - ops;
    return 0;
}

/* A job that nobody has had for an hour makes room for others; what its row has counted has been drained. */
static void forget(struct shared_rows *rows, const struct abi_shared_key *key)
{
    struct seen *seen = find(rows, key);

    bpf_map_delete_elem(rows->shared_map, key);
    if (seen)
        *seen = rows->seen[--rows->count];
}

int shared_rows_drain(struct shared_rows *rows, struct volumes *volumes, struct origin *origin, int64_t since,
                      int64_t now_slot, struct batch *batch)
{
    struct abi_shared_key key, next;
    struct abi_shared_row now;
    bool more = bpf_map_get_next_key(rows->shared_map, NULL, &next) == 0;
    int err;

    while (more) {
        key = next;
        more = bpf_map_get_next_key(rows->shared_map, &key, &next) == 0;
        if (bpf_map_lookup_elem(rows->shared_map, &key, &now))
            continue;
        err = drain_row(rows, &key, &now, volumes, origin, since, now_slot, batch);
        if (err)
            return err;
        if (key.job && !origin_find(origin, key.job))
            forget(rows, &key);
    }
    for (uint32_t op = OP_FIRST; op < OP_COUNT; op++) {
        if (bpf_map_lookup_elem(rows->last_map, &op, &now))
            continue;
        /* No job has this id, so it cannot be mistaken for a key of the map. */
        key = (struct abi_shared_key){.job = UINT32_MAX, .op = op, .volume = ABI_VOLUME_UNKNOWN};
        err = drain_row(rows, &key, &now, volumes, origin, since, now_slot, batch);
        if (err)
            return err;
    }
    return 0;
}
