/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests whose end no program has seen: some kernels run none while their supervisor's thread has the processor that
 * the interrupt comes to. They are counted as lost, once: when their memory is used again, or at the next drain.
 */
#ifndef UNBLEND_PROBE_UNSEEN_H
#define UNBLEND_PROBE_UNSEEN_H

#include "probe/bpf/station.bpf.h"

#include <bpf/bpf_core_read.h>

static __always_inline __u64 volume_of_disk(struct gendisk *disk)
{
    return ABI_VOLUME_DEVICE | (__u64)BPF_CORE_READ(disk, major) << 20 | (__u32)BPF_CORE_READ(disk, first_minor);
}

static __always_inline __u64 device_of(struct request *request)
{
    struct gendisk *disk;

    if (bpf_core_field_exists(request->rq_disk))
        disk = BPF_CORE_READ(request, rq_disk);
    else
        disk = BPF_CORE_READ(request, q, disk);
    return volume_of_disk(disk);
}

/* start_ns: when it was issued; what began before there were programs to see its end is nobody's loss */
static __always_inline void lose(struct request *request, __u64 start_ns)
{
    if (start_ns >= control.since_ns) {
        count(ABI_COUNTER_LOST, 1);
        count(ABI_COUNTER_UNSEEN, 1);
    }
    leave_queue(device_of(request), ABI_STATION_BLOCK);
}

/* The request begins: one still known here under its address has ended. */
static __always_inline void settle_unseen(struct request *request)
{
    __u64 key = (__u64)request;
    struct abi_request *entry = bpf_map_lookup_elem(&requests, &key);

    if (!entry)
        return;
    if (entry->start_ns > ABI_SETTLED)
        lose(request, entry->start_ns);
    bpf_map_delete_elem(&requests, &key);
}

/* The request's entry; one of its memory's last use, whose end has been settled, is none. */
static __always_inline struct abi_request *find_request(struct request *request)
{
    __u64 key = (__u64)request;
    struct abi_request *entry = bpf_map_lookup_elem(&requests, &key);

    return entry && entry->start_ns != ABI_SETTLED ? entry : NULL;
}

/* Nobody holds it any more. The kernel tells of its end before. */
static __always_inline bool is_free(struct request *request)
{
    return !BPF_CORE_READ(request, ref.counter);
}

/* The entry stays, as of no use: its address may be used again by now, and only who begins a request there deletes. */
static long settle_one(void *map, const __u64 *address, struct abi_request *entry, void *context)
{
    struct request *request = (struct request *)*address;
    __u64 key = *address, start_ns = entry->start_ns;

    if (start_ns <= ABI_SETTLED || !is_free(request))
        return 0;
    __sync_fetch_and_add(&entry->rest, 0); /* what follows is not read before it was free */
    entry = bpf_map_lookup_elem(&requests, &key);
    if (entry && __sync_val_compare_and_swap(&entry->start_ns, start_ns, ABI_SETTLED) == start_ns)
        lose(request, start_ns);
    return 0;
}

/* Something is on its way through the station, or has been left there. */
static long look_at_station(void *map, const __u32 *place, struct abi_station *station, __u32 *busy)
{
    if (station->begun == station->ended)
        return 0;
    *busy = 1;
    return 1; /* that is enough */
}

/* Not attached: each drain runs it. */
SEC("raw_tp")
int on_settle(void *context)
{
    __u32 busy = 0;

    bpf_for_each_map_elem(&stations, look_at_station, &busy, 0);
    if (busy)
        bpf_for_each_map_elem(&requests, settle_one, NULL, 0);
    return 0;
}

#endif
