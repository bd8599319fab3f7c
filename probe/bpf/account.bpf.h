/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only code that updates rows. An operation is counted in exactly one place: in its thread's row, or, where there
 * is no room for one, in a shared row of its job and volume, or else in the one of its operation.
 */
#ifndef UNBLEND_PROBE_ACCOUNT_H
#define UNBLEND_PROBE_ACCOUNT_H

#include "probe/bpf/slot.bpf.h"

/* So many rows a thread may have of one operation before the rest overflows: one a volume, of reads one for each of enum
   abi_file_size, too. */
#define CHAIN_MAX 24

struct measure {
    __u32 op;
    __u32 process;
    __u64 volume;
    __u64 bytes;      /* of all of them */
    __u64 size;       /* for the size histogram, if sized */
    __u64 latency_ns; /* of each */
    __u64 end_ns;     /* when it ended, CLOCK_MONOTONIC */
    __u32 count;      /* so many equal operations */
    __u32 order; /* enum abi_order */
    __u16 error_code; /* errno; 0: it succeeded */
    __u8 cache;  /* enum abi_cache, of a read */
    __u8 file_size; /* enum abi_file_size, of a read or of what a stat has described */
    bool sized;
};

static __always_inline void count(enum abi_counter which, __u64 by)
{
    __u32 key = which;
    __u64 *counter = bpf_map_lookup_elem(&counters, &key);

    if (counter)
        __sync_fetch_and_add(counter, by);
}

static __always_inline void add_shared(struct abi_shared_row *row, const struct measure *m)
{
    __u32 bucket = bucket_of(m->latency_ns);

    if (bucket >= ABI_LATENCY_BUCKETS)
        bucket = ABI_LATENCY_BUCKETS - 1;
    if (m->sized) {
        __u32 size = bucket_of(m->size);

        if (size >= ABI_SIZE_BUCKETS)
            size = ABI_SIZE_BUCKETS - 1;
        __sync_fetch_and_add(&row->size[size], m->count);
    }
    __sync_fetch_and_add(&row->bytes, m->bytes);
    __sync_fetch_and_add(&row->latency_sum_ns, m->latency_ns * m->count);
    if (m->error_code)
        __sync_fetch_and_add(&row->errors, m->count);
    __sync_fetch_and_add(&row->latency[bucket], m->count);
}

static __always_inline void account_shared(const struct measure *m, __u32 job)
{
    struct abi_shared_key key = {.job = job, .op = m->op, .volume = m->volume};
    struct abi_shared_row *row = bpf_map_lookup_elem(&shared, &key);
    __u32 zero = 0;

    if (!row) {
        void *empty = bpf_map_lookup_elem(&empty_row, &zero);

        if (empty)
            bpf_map_update_elem(&shared, &key, empty, BPF_NOEXIST);
        row = bpf_map_lookup_elem(&shared, &key);
    }
    if (!row)
        row = bpf_map_lookup_elem(&last, &key.op);
    if (row)
        add_shared(row, m);
}

/* The bucket in a page that there is. */
static __always_inline __u32 *bucket_in(const __u32 *page_index, __u32 bucket)
{
    struct abi_page *page = bpf_map_lookup_elem(&pages, page_index);

    if (!page)
        return NULL;
    barrier_var(page); /* clang would add to it before the check, which the verifier forbids */
    return &page->count[bucket % ABI_PAGE_BUCKETS];
}

/* The same in a row's page, taken from the pool at first use. NULL when the pool is empty. */
static __always_inline __u32 *page_bucket(__u32 *index, __u32 bucket)
{
    __u32 fresh;

    if (!*index) {
        if (bpf_map_pop_elem(&free_pages, &fresh))
            return NULL;
        *index = fresh;
    }
    return bucket_in(index, bucket);
}

/* Where it starts is known, and it is not where the one before it has ended. */
static __always_inline bool is_jump(__u32 order)
{
    return order == ABI_SEQUENTIAL || order == ABI_RANDOM;
}

/* Counts transfers that jump once more, by their size; the index of the page is returned. Those for which the pool has none are
   told of all sizes together only. Not inlined, for the stack's sake. */
static __noinline __u32 count_jumps(struct abi_row *row, __u32 size, __u32 count)
{
    __u32 index = row->jumps, bucket = bucket_of(size), *place, *jumped;

    if (!index) {
        if (bpf_map_pop_elem(&free_pages, &index))
            return 0;
        row->jumps = index;
    }
    place = bucket_in(&index, bucket / ABI_PAGE_BUCKETS);
    jumped = place ? page_bucket(place, bucket) : NULL;
    if (!jumped)
        return 0;
    *jumped += count;
    return *place;
}

/* The thread's row of that operation, volume and, of reads, files, made at first use. NULL when there is no room. at: its
   index */
static __always_inline struct abi_row *find_row(struct abi_thread *thread, __u32 op, __u64 volume, __u32 file_size,
                                                __u32 *at)
{
    struct abi_row *row;
    __u32 index, fresh;

    if (op >= OP_FILE_END)
        return NULL;
    barrier_var(op); /* clang would use a copy from before the check, of which Linux 6.1 knows no bounds */
    op &= ABI_HEADS - 1;
    index = thread->head[op];
    for (int i = 0; i < CHAIN_MAX && index; i++) {
        row = bpf_map_lookup_elem(&rows, &index);
        if (!row)
            return NULL;
        if (row->volume == volume && (op != OP_READ || row->file_size == file_size)) {
            *at = index;
            return row;
        }
        index = row->next;
    }
    if (index || bpf_map_pop_elem(&free_rows, &fresh))
        return NULL;
    row = bpf_map_lookup_elem(&rows, &fresh);
    if (!row)
        return NULL;
    row->volume = volume;
    if (op == OP_READ)
        row->file_size = file_size;
    row->next = thread->head[op];
    thread->head[op] = fresh;
    *at = fresh;
    return row;
}

/* The same, when it exists; else NULL. */
static __always_inline __u32 *known_bucket(__u32 *row_pages, __u32 bucket, __u32 limit)
{
    __u32 *index;

    if (bucket >= limit)
        bucket = limit - 1;
    barrier_var(bucket); /* clang would use a copy from before the check, of which Linux 6.1 knows no bounds */
    index = &row_pages[bucket / ABI_PAGE_BUCKETS];
    return *index ? bucket_in(index, bucket) : NULL;
}

/* Counts an operation in a row; false, and nothing counted, when there is no room for it. */
static __always_inline bool account_row(struct abi_row *row, __u32 index, const struct measure *m)
{
    __u32 *latency, *size = NULL, bucket;

    if (m->end_ns >= row->slot_end_ns)
        roll_slot(row, index, m->end_ns);
    bucket = bucket_of(m->latency_ns);
    if (bucket >= ABI_LATENCY_BUCKETS)
        bucket = ABI_LATENCY_BUCKETS - 1;
    latency = page_bucket(&row->latency_page[bucket / ABI_PAGE_BUCKETS], bucket);
    if (!latency)
        return false;
    if (m->sized) {
        bucket = bucket_of(m->size);
        if (bucket >= ABI_SIZE_BUCKETS)
            bucket = ABI_SIZE_BUCKETS - 1;
        size = page_bucket(&row->size_page[bucket / ABI_PAGE_BUCKETS], bucket);
        if (!size)
            return false;
    }
    /* The operation first, what belongs to it after: the drain reads the other way round. */
    *latency += m->count;
    if (size)
        *size += m->count;
    if (m->op <= OP_WRITE && is_jump(m->order))
        count_jumps(row, m->size, m->count);
    row->bytes += m->bytes;
    row->order[m->order & (ABI_ORDERS - 1)] += m->count;
    row->latency_sum_ns += m->latency_ns * m->count;
    if (m->error_code)
        row->errors += m->count;
    row->touched += m->count;
    return true;
}

/* One operation whose bucket has been found and whose slot is not over. */
static __always_inline void add(struct abi_row *row, __u32 *latency, __u64 latency_ns)
{
    *latency += 1;
    row->latency_sum_ns += latency_ns;
    row->touched += 1;
}

#endif
