/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/stations.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/bpf/abi.h"
#include "probe/bpf/stationabi.h"

static_assert(ABI_REQUEST_ALL == REQUEST_ALL && ABI_REQUEST_READ == REQUEST_READ &&
                  ABI_REQUEST_WRITE == REQUEST_WRITE && ABI_REQUEST_FLUSH == REQUEST_FLUSH &&
                  ABI_REQUEST_DISCARD == REQUEST_DISCARD && ABI_REQUEST_METADATA == REQUEST_METADATA,
              "requests are numbered alike on both sides");
static_assert(ABI_STATION_BLOCK == LAYER_BLOCK && ABI_STATION_FUSE == LAYER_FUSE &&
                  ABI_STATION_NFS_CLIENT == LAYER_NFS_CLIENT && ABI_STATION_NFS_SERVER == LAYER_NFS_SERVER,
              "and layers");

struct seen {
    struct abi_station_key key;
    struct abi_station station;
};

struct stations {
    struct station_maps maps;
    struct seen *seen; /* in the order of their first appearance */
    uint32_t count;
};

int stations_new(const struct station_maps *maps, struct stations **out)
{
    struct stations *stations = calloc(1, sizeof(*stations));

    if (!stations)
        return -ENOMEM;
    stations->maps = *maps;
    *out = stations;
    return 0;
}

void stations_free(struct stations *stations)
{
    if (!stations)
        return;
    free(stations->seen);
    free(stations);
}

static struct seen *find(struct stations *stations, const struct abi_station_key *key)
{
    struct seen *grown;

    for (uint32_t i = 0; i < stations->count; i++)
        if (memcmp(&stations->seen[i].key, key, sizeof(*key)) == 0)
            return &stations->seen[i];
    grown = reallocarray(stations->seen, stations->count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    stations->seen = grown;
    grown[stations->count] = (struct seen){.key = *key};
    return &grown[stations->count++];
}

static int add_buckets(struct histogram *histogram, const uint32_t *now, const uint32_t *before, unsigned count)
{
    int err = 0;

    for (unsigned i = 0; !err && i < count; i++)
        if (now[i] != before[i])
            err = histogram_add_bucket(histogram, i, now[i] - before[i]);
    return err;
}

static int set_party(const struct abi_station_key *key, struct origin *origin, struct batch *batch,
                     struct station *to)
{
    const struct job *job = origin_find(origin, key->party);

    to->job = NO_INDEX;
    to->party = key->party == ABI_PARTY_WRITEBACK ? PARTY_WRITEBACK
                : key->party == ABI_PARTY_KERNEL  ? PARTY_KERNEL
                                                  : PARTY_UNKNOWN;
    if (!job || to->party != PARTY_UNKNOWN)
        return 0;
    to->party = PARTY_JOB;
    return batch_job(batch, job, &to->job);
}

/* How many there were at once, and are now. */
static int drain_depth(const struct abi_station *now, struct abi_station *seen, struct station *to)
{
    int err = add_buckets(&to->depth, now->size, seen->size, ABI_REQUEST_BUCKETS);

    to->known |= STATION_IN_FLIGHT;
    to->in_flight = now->begun > now->ended ? now->begun - now->ended : 0;
    return err;
}

static int drain_counts(const struct abi_station *now, struct abi_station *seen, enum layer layer, struct station *to)
{
    bool has_queue = layer == LAYER_BLOCK || layer == LAYER_NFS_CLIENT;
    int err = add_buckets(&to->size, now->size, seen->size, ABI_REQUEST_BUCKETS);

    if (!err && has_queue)
        err = add_buckets(&to->queue_ns, now->queue, seen->queue, ABI_WAIT_BUCKETS);
    if (!err)
        err = add_buckets(&to->service_ns, now->service, seen->service, ABI_WAIT_BUCKETS);
    if (err)
        return err;
    to->known |= STATION_OPS | STATION_BYTES | STATION_ERRORS | STATION_SERVICE;
    if (has_queue)
        to->known |= STATION_QUEUE;
    if (layer == LAYER_BLOCK)
        to->known |= STATION_MERGES;
    to->ops += now->ops - seen->ops;
    to->bytes += now->bytes - seen->bytes;
    to->errors += now->errors - seen->errors;
    to->merges += now->merges - seen->merges;
    to->queue_sum_ns += now->queue_sum_ns - seen->queue_sum_ns;
    to->service_sum_ns += now->service_sum_ns - seen->service_sum_ns;
    return 0;
}

static int drain_one(struct stations *stations, const struct abi_station_key *key, const struct abi_station *now,
                     struct volumes *volumes, struct origin *origin, struct batch *batch)
{
    struct station to = {.layer = key->layer, .request = key->request}, *station;
    struct seen *seen = find(stations, key);
    int err;

    if (!seen)
        return -ENOMEM;
    /* A depth is shown as long as there is one. */
    if (memcmp(&seen->station, now, sizeof(*now)) == 0 && now->begun <= now->ended)
        return 0;
    err = volumes_name(volumes, key->volume, batch, &to.volume);
    if (!err)
        err = set_party(key, origin, batch, &to);
    if (!err)
        err = batch_station(batch, &to, &station);
    if (!err)
        err = key->request == ABI_REQUEST_ALL ? drain_depth(now, &seen->station, station)
                                              : drain_counts(now, &seen->station, to.layer, station);
    if (!err)
        seen->station = *now;
    return err;
}

/* The process with that id, if it is alive and known. */
static const struct abi_process *find_process(const struct tables *tables, uint32_t tgid)
{
    const struct table *table = &tables->table[ABI_TABLE_PROCESSES];

    for (uint32_t i = 1; i <= table->high; i++)
        if (process_at(tables, i)->tgid == tgid && !process_at(tables, i)->exited)
            return process_at(tables, i);
    return NULL;
}

/* Names whoever answers for a FUSE file system, and its job: what that job does on other volumes, it does for others. */
static int drain_server(uint32_t tgid, uint64_t volume, struct volumes *volumes, struct origin *origin,
                        const struct tables *tables, struct batch *batch)
{
    const struct abi_process *process = find_process(tables, tgid);
    struct station to = {.layer = LAYER_FUSE, .party = PARTY_SERVER, .job = NO_INDEX}, *station;
    char command[sizeof(process->comm) + 1] = "";
    int err;

    if (!process)
        return 0; /* gone, or not watched */
    memcpy(command, process->comm, sizeof(process->comm));
    to.server = command;
    err = volumes_name(volumes, volume, batch, &to.volume);
    if (!err)
        err = origin_name(origin, process->job, process->uid, command, batch, &to.job);
    return err ? err : batch_station(batch, &to, &station);
}

int stations_drain(struct stations *stations, struct volumes *volumes, struct origin *origin,
                   const struct tables *tables, struct batch *batch)
{
    _cleanup_free_ struct abi_station *now = malloc(sizeof(*now));
    struct abi_station_key key, *previous = NULL;
    uint32_t place, tgid, *before = NULL;
    uint64_t volume;
    int err = now ? 0 : -ENOMEM;

    while (!err && bpf_map_get_next_key(stations->maps.places, previous, &key) == 0) {
        previous = &key;
        if (bpf_map_lookup_elem(stations->maps.places, &key, &place) == 0 &&
            bpf_map_lookup_elem(stations->maps.stations, &place, now) == 0)
            err = drain_one(stations, &key, now, volumes, origin, batch);
    }
    while (!err && bpf_map_get_next_key(stations->maps.fuse_servers, before, &tgid) == 0) {
        before = &tgid;
        if (bpf_map_lookup_elem(stations->maps.fuse_servers, &tgid, &volume) == 0)
            err = drain_server(tgid, volume, volumes, origin, tables, batch);
    }
    return err;
}
