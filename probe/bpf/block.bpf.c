/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The block layer: a request is counted when the device has completed all of it, with the time from its issue
 * to its completion, and by device with the time that it was in the scheduler's queue before. Its owner is who caused
 * it to be made; writeback belongs to the kernel's own threads.
 */
#include "probe/bpf/unseen.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define REQ_OP_MASK 0xff
/* include/linux/blk_types.h; an odd operation moves data to the device */
#define REQ_OP_READ         0
#define REQ_OP_FLUSH        2
#define REQ_OP_DISCARD      3
#define REQ_OP_SECURE_ERASE 5

/* 0 for requests that neither move nor discard data (zone management, driver commands). */
static __always_inline __u32 operation_in(__u32 flags)
{
    switch (flags & REQ_OP_MASK) {
    case REQ_OP_READ:
        return OP_BLOCK_READ;
    case REQ_OP_FLUSH:
        return OP_BLOCK_FLUSH;
    case REQ_OP_DISCARD:
    case REQ_OP_SECURE_ERASE:
        return OP_BLOCK_DISCARD;
    case 1:  /* write */
    case 7:  /* zone append */
    case 9:  /* write zeroes: /proc/diskstats counts it as a write too */
    case 13: /* zone append before 6.x */
        return OP_BLOCK_WRITE;
    }
    return 0;
}

static __always_inline __u32 operation_of(struct request *request)
{
    return operation_in(BPF_CORE_READ(request, cmd_flags));
}

/* Its kind at a station. */
static __always_inline __u32 kind_of(__u32 op)
{
    return op - OP_BLOCK_READ + ABI_REQUEST_READ;
}

/* A write that nobody waits for. */
static __always_inline bool is_relaxed(__u32 flags)
{
    return operation_in(flags) == OP_BLOCK_WRITE &&
           !(flags >> bpf_core_enum_value(enum req_flag_bits, __REQ_SYNC) & 1);
}

static __always_inline __u64 queue_of(struct request *request)
{
    return (__u64)BPF_CORE_READ(request, q);
}

static __always_inline bool wants_flush(struct request *request)
{
    return BPF_CORE_READ(request, cmd_flags) >>
               bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH) & 1;
}

/*
 * A flush is a request of the block layer's own, issued by one of its threads for all who wait for it: it belongs
 * to who asked last.
 */
static __always_inline void own_flush(struct request *request)
{
    __u64 key = (__u64)request, queue = queue_of(request);
    __u32 *job = bpf_map_lookup_elem(&flushers, &queue);
    struct abi_request entry = {};

    if (job)
        entry.job = *job;
    else if (!config.all)
        return;
    entry.party = entry.job ? entry.job : ABI_PARTY_KERNEL;
    bpf_map_delete_elem(&flushers, &queue);
    if (bpf_map_update_elem(&requests, &key, &entry, BPF_ANY))
        count(ABI_COUNTER_LOST, 1);
}

/* The request has been made: whoever runs now asked for it. */
static __always_inline void own(struct request *request)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_request entry = {};
    __u64 key = (__u64)request;

    settle_unseen(request);
    if (!find_job(task, &entry.job))
        return;
    entry.party = party_of(task, entry.job, is_relaxed(BPF_CORE_READ(request, cmd_flags)));
    if (wants_flush(request)) {
        __u64 queue = queue_of(request);

        bpf_map_update_elem(&flushers, &queue, &entry.job, BPF_ANY);
    }
    if (bpf_map_update_elem(&requests, &key, &entry, BPF_ANY))
        count(ABI_COUNTER_LOST, 1);
}

SEC("tp_btf/block_io_start")
int BPF_PROG(on_io_start, struct request *request)
{
    own(request);
    return 0;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(on_io_start_again, struct request *request)
{
    struct abi_request *entry = find_request(request);

    if (!entry || entry->start_ns) /* nobody's, or of its memory's last use */
        own(request);
    return 0;
}

static __always_inline struct request *request_in(__u64 *context)
{
    return config.request_argument ? (struct request *)context[1] : (struct request *)context[0];
}

SEC("tp_btf/block_rq_insert")
int on_insert(__u64 *context)
{
    struct abi_request *entry = find_request(request_in(context));

    if (entry && !entry->start_ns)
        entry->queue_ns = bpf_ktime_get_ns();
    return 0;
}

static __always_inline void add_merge(__u64 device, __u32 op, __u32 party)
{
    struct abi_station_key key = {.volume = device, .party = party, .layer = ABI_STATION_BLOCK, .request = kind_of(op)};
    struct abi_station *station = find_station(&key);

    if (station)
        __sync_fetch_and_add(&station->merges, 1);
}

/* What was asked for and became part of a request that was there already. */
static __always_inline int merged(struct gendisk *disk, __u32 flags)
{
    struct task_struct *task = bpf_get_current_task_btf();
    __u32 job = 0, op = operation_in(flags);

    if (op && find_job(task, &job))
        add_merge(volume_of_disk(disk), op, party_of(task, job, is_relaxed(flags)));
    return 0;
}

SEC("tp_btf/block_bio_backmerge")
int BPF_PROG(on_backmerge, struct bio *bio)
{
    return merged(BPF_CORE_READ(bio, bi_bdev, bd_disk), BPF_CORE_READ(bio, bi_opf));
}

SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(on_frontmerge, struct bio *bio)
{
    return merged(BPF_CORE_READ(bio, bi_bdev, bd_disk), BPF_CORE_READ(bio, bi_opf));
}

/* A request becomes part of another: one that has waited from the start, or that the device had no room for. */
SEC("tp_btf/block_rq_merge")
int on_merge(__u64 *context)
{
    struct request *request = request_in(context);
    __u64 key = (__u64)request;
    struct abi_request *entry = find_request(request);
    __u32 op = operation_of(request);

    if (!entry)
        return 0;
    if (entry->start_ns)
        leave_queue(device_of(request), ABI_STATION_BLOCK);
    if (op)
        add_merge(device_of(request), op, entry->party);
    bpf_map_delete_elem(&requests, &key);
    return 0;
}

/*
 * A program that is busy for one request is skipped for another whose interrupt comes meanwhile. So a second one follows
 * each of those that interrupts run, and does what the first has not.
 */
static __always_inline int issue(struct request *request, bool again)
{
    struct abi_request *entry = find_request(request);
    __u64 now;

    if (again && entry && entry->start_ns)
        return 0;
    if (!entry && operation_of(request) == OP_BLOCK_FLUSH) {
        own_flush(request);
        entry = find_request(request);
    } else if (!entry && (!config.has_io_start || config.all)) {
        own(request);
        entry = find_request(request);
    }
    if (!entry) {
        if (config.all && again)
            count(ABI_COUNTER_LOST, 1);
        return 0;
    }
    now = bpf_ktime_get_ns();
    if (!entry->start_ns) {
        if (entry->queue_ns)
            entry->queue_ns = now - entry->queue_ns;
        if (operation_of(request))
            begin_request(device_of(request), ABI_STATION_BLOCK);
    }
    entry->start_ns = now;
    return 0;
}

SEC("tp_btf/block_rq_issue")
int on_issue(__u64 *context)
{
    return issue(request_in(context), false);
}

SEC("tp_btf/block_rq_issue")
int on_issue_again(__u64 *context)
{
    return issue(request_in(context), true);
}

static __always_inline void leave_station(const struct measure *m, const struct abi_request *entry)
{
    struct ended e = {
        .key = {.volume = m->volume, .party = entry->party, .layer = ABI_STATION_BLOCK, .request = kind_of(m->op)},
        .bytes = m->bytes,
        .queue_ns = entry->queue_ns,
        .service_ns = m->latency_ns,
        .sized = m->sized,
        .failed = m->error_code,
    };

    end_request(&e);
}

static __always_inline int complete(struct request *request, int error, __u32 bytes)
{
    struct measure m = {.op = operation_of(request), .count = 1, .error_code = error != 0};
    __u32 length = BPF_CORE_READ(request, __data_len), rest = length > bytes ? length - bytes : 0;
    __u64 key = (__u64)request;
    struct abi_request *entry = find_request(request);

    if (!entry || (rest && entry->rest == rest))
        return 0; /* nobody's, or seen */
    if (!error)
        entry->bytes += bytes;
    entry->rest = rest;
    if (rest)
        return 0; /* a part of it; the rest follows */
    if (m.op && entry->start_ns) {
        m.volume = device_of(request);
        m.bytes = m.size = entry->bytes;
        m.latency_ns = bpf_ktime_get_ns() - entry->start_ns;
        m.sized = !error && m.op != OP_BLOCK_FLUSH;
        account_shared(&m, entry->job);
        leave_station(&m, entry);
    } else if (m.op && entry->bytes) {
        count(ABI_COUNTER_LOST, 1); /* its issue was not seen; a flush that the device has no need of has none */
    }
    bpf_map_delete_elem(&requests, &key);
    return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request *request, int error, unsigned int bytes)
{
    return complete(request, error, bytes);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete_again, struct request *request, int error, unsigned int bytes)
{
    return complete(request, error, bytes);
}

char LICENSE[] SEC("license") = "GPL";
