/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demand over time: what records ask of volumes, and what the storage side says of it. */
#include "analyzer/aggregate_private.h"

#include <errno.h>

int aggregate_demand(struct series *series, const struct batch *batch,
                      const struct demand_slot *slot)
{
    return series_add(series, batch->start_ns, batch->duration_ns, batch->interval_ms, slot);
}

enum busy busy_of(enum operation op)
{
    switch (op) {
    case OP_READ:
    case OP_SEEK:
    case OP_MMAP_FAULT:
        return BUSY_READ;
    case OP_WRITE:
    case OP_FSYNC:
    case OP_CREATE:
    case OP_MKDIR:
    case OP_RENAME:
    case OP_TRUNCATE:
    case OP_SETATTR:
        return BUSY_WRITE;
    default:
        return BUSY_METADATA;
    }
}

struct demand_slot aggregate_busy(enum operation op, uint64_t sum_ns, uint64_t ops)
{
    enum busy kind = busy_of(op);
    struct demand_slot slot = {{0}};

    slot.demand[kind] = sum_ns;
    slot.demand[kind == BUSY_METADATA ? BUSY_METADATA_OPS : BUSY_DATA_OPS] = ops;
    return slot;
}

/* What a record asks of one of the cluster's volumes. */
int aggregate_volume_demand(struct volume_total *volume, const struct batch *batch, const struct record *record,
                            const struct demand_slot *slot, const struct demand_slot *busy)
{
    bool file = operation_is_file(record->op);
    int err = aggregate_demand(file ? &volume->series : &volume->reached, batch, slot);

    volume->reached_known |= !file;
    return err ? err : aggregate_demand(file ? &volume->busy : &volume->reached_busy, batch, busy);
}

/* Whether a layer is the one that tells of a node's requests to a volume: of several, as of NFS, the first to speak.
   What a platform counts is of all nodes, and then nobody else tells anything. 0 or -ENOMEM. */
static int tells_reached(struct aggregate *a, struct volume_total *volume, const struct batch *batch, enum layer layer,
                         bool *tells)
{
    const struct node_total *node = aggregate_node(a, batch);
    uint32_t hash, cursor, at;

    if (!node)
        return -ENOMEM;
    if (!volume->reached_known)
        volume->reached_layer = layer;
    volume->reached_known = true;
    *tells = volume->reached_layer == layer;
    if (volume->reached_layer == LAYER_BLOCK || volume->reached_layer == LAYER_PLATFORM || layer == LAYER_PLATFORM)
        return 0;
    cursor = hash = lookup_hash(&node->node, sizeof(node->node));
    while (lookup_next(&volume->teller_index, hash, &cursor, &at))
        if (volume->tellers[at].node == node->node) {
            *tells = volume->tellers[at].layer == layer;
            return 0;
        }
    if (RESERVE(volume->tellers, volume->teller, sizeof(*volume->tellers)) || lookup_reserve(&volume->teller_index))
        return -ENOMEM;
    volume->tellers[volume->teller_count] = (struct teller){node->node, layer};
    lookup_insert(&volume->teller_index, hash, volume->teller_count++);
    *tells = true;
    return 0;
}

/* What requests to a file system's server, or a platform, say of what reached it. Devices' are records, and servers'
   own counters are of all their clients, seen or not. */
int aggregate_station(struct aggregate *a, const struct batch *batch, const struct station *station)
{
    static const enum operation ops[REQUESTS] = {
        [REQUEST_READ] = OP_READ, [REQUEST_WRITE] = OP_WRITE, [REQUEST_METADATA] = OP_STAT};
    const struct volume *from = &batch->volumes[station->volume];
    enum operation op = ops[station->request];
    struct demand_slot slot, busy;
    struct volume_total *volume;
    bool tells;
    int err;

    if (op == OP_NONE || !(station->known & (STATION_OPS | STATION_BYTES)) || station->layer == LAYER_BLOCK ||
        station->layer == LAYER_NFS_SERVER || station->layer == LAYER_NFSD || station->layer == LAYER_NVIDIA_FS)
        return 0;
    slot = demand_of(op, station->ops, station->bytes);
    busy = aggregate_busy(op, station->queue_sum_ns + station->service_sum_ns, station->ops);
    volume = aggregate_volume(a, &a->volumes, &a->volume_count, &a->volume_capacity, from);
    err = volume ? tells_reached(a, volume, batch, station->layer, &tells) : -ENOMEM;
    if (err || !tells)
        return err;
    err = aggregate_demand(&volume->reached, batch, &slot);
    if (!err && station->known & STATION_SERVICE)
        err = aggregate_demand(&volume->reached_busy, batch, &busy);
    if (err || volume->scope != SCOPE_SHARED)
        return err;
    a->shared.reached_known = true;
    err = aggregate_demand(&a->shared.reached, batch, &slot);
    if (!err && station->known & STATION_SERVICE)
        err = aggregate_demand(&a->shared.reached_busy, batch, &busy);
    return err;
}
