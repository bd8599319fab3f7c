/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The storage side: for whom a request is, and the only code that updates its table. */
#ifndef UNBLEND_PROBE_STATION_H
#define UNBLEND_PROBE_STATION_H

#include "probe/bpf/async.bpf.h"

/* include/linux/sched.h */
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD   0x00200000

/* The calling task's job; false when nobody wants to know of its requests. */
static __always_inline bool find_job(struct task_struct *task, __u32 *job)
{
    struct abi_task *state = acting_state(task);

    if (state)
        *job = acting_job(state);
    return config.all || (state && *job); /* the self-test's processes have none */
}

/* For whom the calling task asks; relaxed: it is a write that nobody waits for. */
static __always_inline __u32 party_of(struct task_struct *task, __u32 job, bool relaxed)
{
    __u32 flags = BPF_CORE_READ(task, flags);

    if (job || !(flags & PF_KTHREAD))
        return job;
    return relaxed && flags & PF_WQ_WORKER ? ABI_PARTY_WRITEBACK : ABI_PARTY_KERNEL;
}

static __always_inline struct abi_station *known_station(const struct abi_station_key *key)
{
    __u32 *place = bpf_map_lookup_elem(&station_places, key);

    return place ? bpf_map_lookup_elem(&stations, place) : NULL;
}

/* Two CPUs that add the same one at once waste a place. */
static __always_inline struct abi_station *add_station(const struct abi_station_key *key)
{
    struct abi_station *station = known_station(key);
    __u32 which = ABI_COUNTER_STATIONS, place;
    __u64 *given;

    if (station)
        return station;
    given = bpf_map_lookup_elem(&counters, &which);
    if (!given)
        return NULL;
    place = __sync_fetch_and_add(given, 1);
    if (!bpf_map_lookup_elem(&stations, &place)) {
        __sync_fetch_and_add(given, -1);
        return NULL;
    }
    bpf_map_update_elem(&station_places, key, &place, BPF_NOEXIST);
    return known_station(key);
}

/* NULL when there is no room, not even under no party; that is counted. */
static __always_inline struct abi_station *find_station(struct abi_station_key *key)
{
    struct abi_station *station = add_station(key);

    if (station)
        return station;
    key->party = ABI_PARTY_UNKNOWN;
    station = add_station(key);
    if (!station)
        count(ABI_COUNTER_UNSTATIONED, 1);
    return station;
}

static __always_inline __u32 limited(__u32 bucket, __u32 buckets)
{
    return bucket < buckets ? bucket : buckets - 1;
}

/* One more is on its way. */
__noinline int begin_request(__u64 volume, __u32 layer)
{
    struct abi_station_key key = {.volume = volume, .layer = layer};
    struct abi_station *all = find_station(&key);
    __u64 depth;

    if (!all)
        return 0;
    depth = __sync_fetch_and_add(&all->begun, 1) + 1 - *(volatile __u64 *)&all->ended;
    if (depth >> 32)
        depth = 0; /* another has ended meanwhile */
    __sync_fetch_and_add(&all->size[limited(bucket_of(depth), ABI_REQUEST_BUCKETS)], 1);
    return 0;
}

/* One has come to its end, seen or not. */
static __always_inline void leave_queue(__u64 volume, __u32 layer)
{
    struct abi_station_key key = {.volume = volume, .layer = layer};
    struct abi_station *all = known_station(&key);

    if (all)
        __sync_fetch_and_add(&all->ended, 1);
}

struct ended {
    struct abi_station_key key;
    __u64 bytes;
    __u64 queue_ns, service_ns;
    bool sized, failed;
};

static __always_inline void end_request(struct ended *e)
{
    struct abi_station *station;

    leave_queue(e->key.volume, e->key.layer);
    station = find_station(&e->key);
    if (!station)
        return;
    __sync_fetch_and_add(&station->bytes, e->bytes);
    __sync_fetch_and_add(&station->queue_sum_ns, e->queue_ns);
    __sync_fetch_and_add(&station->service_sum_ns, e->service_ns);
    if (e->failed)
        __sync_fetch_and_add(&station->errors, 1);
    if (e->sized)
        __sync_fetch_and_add(&station->size[limited(bucket_of(e->bytes), ABI_REQUEST_BUCKETS)], 1);
    __sync_fetch_and_add(&station->queue[limited(bucket_of(e->queue_ns), ABI_WAIT_BUCKETS)], 1);
    __sync_fetch_and_add(&station->service[limited(bucket_of(e->service_ns), ABI_WAIT_BUCKETS)], 1);
    __sync_fetch_and_add(&station->ops, 1);
}

#endif
