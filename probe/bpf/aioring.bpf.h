/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libaio's contexts, and the completions that come into their rings. A completion is measured once, by whoever looks
 * first; the ring, which lies in the program's memory, is looked at from where the last look has ended.
 */
#ifndef UNBLEND_PROBE_AIORING_H
#define UNBLEND_PROBE_AIORING_H

#include "probe/bpf/aiotypes.bpf.h"

/* --- contexts --- */

struct find {
    __u64 first; /* of the table's pointers */
    __u64 id;
    __u64 found;
};

static long match_context(__u32 index, void *data)
{
    struct find *find = data;
    struct kioctx *context = NULL;

    bpf_probe_read_kernel(&context, sizeof(context), (void *)(find->first + index * sizeof(context)));
    if (!context || BPF_CORE_READ(context, user_id) != find->id)
        return 0;
    find->found = (__u64)context;
    return 1;
}

/* The kernel's side of a context; 0 when there is none. */
static __always_inline __u64 find_context(struct mm_struct *memory, __u64 id)
{
    struct kioctx_table *table = BPF_CORE_READ(memory, ioctx_table);
    struct find find = {.first = (__u64)table + bpf_core_field_offset(struct kioctx_table, table), .id = id};
    __u32 entries = table ? BPF_CORE_READ(table, nr) : 0;

    bpf_loop(entries > AIO_TABLE_MAX ? AIO_TABLE_MAX : entries, match_context, &find, 0);
    return find.found;
}

static __always_inline struct abi_aio *context_of(__u64 id, bool born)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_aio_key key = {.memory = (__u64)memory_of(task), .id = id};
    struct abi_aio *context = born ? NULL : bpf_map_lookup_elem(&aio_contexts, &key);
    struct scratch_aio *scratch = scratch_of();
    __u64 kernel;

    if (!scratch || (context && context->tgid == (__u32)task->tgid))
        return context;
    kernel = find_context((struct mm_struct *)key.memory, id);
    if (!kernel)
        return NULL;
    __builtin_memset(&scratch->context, 0, sizeof(scratch->context));
    scratch->context.kernel = kernel;
    scratch->context.tgid = task->tgid;
    scratch->context.known = born;
    bpf_map_update_elem(&aio_contexts, &key, &scratch->context, BPF_ANY);
    return bpf_map_lookup_elem(&aio_contexts, &key);
}

/* --- completions --- */

/* Whoever has set the measure is done; it is recorded. */
static __always_inline void record_measured(void)
{
    struct scratch_aio *scratch = scratch_of();

    if (!scratch)
        return;
    record(&scratch->measure, scratch->thread, scratch->job);
    count_measured(scratch->tree, &scratch->measure);
}

/* True when the entry was there to be taken and is measured; it is gone then. */
static __always_inline bool measure_entry(struct scratch_aio *scratch, const struct abi_async_key *key,
                                          struct abi_async *entry, long result, __u64 now)
{
    if (!take(entry))
        return false;
    if (is_stale(entry)) {
        bpf_map_delete_elem(&async, key);
        return false;
    }
    measure_result(&scratch->measure, entry, entry->op, entry->volume, result);
    scratch->thread = place(entry, &scratch->measure, now);
    scratch->job = entry->job;
    scratch->tree = entry->tree;
    bpf_map_delete_elem(&async, key);
    return true;
}

/* A completion at a position of the ring, or a new one in an array: 1 when it is measured. */
__noinline int measure_event(__u32 index)
{
    struct scratch_aio *scratch = scratch_of();
    __u64 at = index, position = UINT64_MAX;
    struct abi_async_key key = {};
    struct abi_async *entry;
    struct look *look;

    if (!scratch)
        return 0;
    look = &scratch->look;
    if (look->entries) {
        position = look->first + index;
        at = position % look->entries;
    }
    if (bpf_probe_read_user(&scratch->event, sizeof(scratch->event), look->events + at)) {
        look->stuck = look->stuck || index >= look->consumed;
        return 0;
    }
    if (!look->stuck)
        look->done = index + 1;
    key.owner = look->kernel;
    key.request = scratch->event.control;
    entry = bpf_map_lookup_elem(&async, &key);
    /* What lies in the ring from before the request was submitted is about an older one. */
    return entry && position >= entry->tag &&
           measure_entry(scratch, &key, entry, scratch->event.result, look->now);
}

static long look_at_event(__u32 index, void *unused)
{
    if (measure_event(index) > 0)
        record_measured();
    return 0;
}

static __always_inline __u32 at_once(__u64 number)
{
    return number > AIO_LOOK_MAX ? AIO_LOOK_MAX : number;
}

/* How many completions have come into the ring since it was looked at; where the next one will come is `position`. */
__noinline __u32 begin_look(__u64 memory, __u64 id)
{
    struct abi_aio_key key = {.memory = memory, .id = id};
    struct abi_aio *context = bpf_map_lookup_elem(&aio_contexts, &key);
    struct scratch_aio *scratch = scratch_of();
    const struct aio_ring *ring;
    __u32 at, pending, entries;
    struct look *look;

    if (!scratch || !context)
        return 0;
    ring = &scratch->ring;
    look = &scratch->look;
    look->done = look->stuck = 0;
    look->position = 0;
    if (bpf_probe_read_user(&scratch->ring, sizeof(scratch->ring), (const void *)id))
        return 0;
    entries = ring->entries;
    if (ring->magic != AIO_RING_MAGIC || !entries || ring->tail >= entries)
        return 0;
    if (!context->readable) {
        context->seen = context->known ? context->reaped : ring->tail;
        context->readable = 1;
    }
    look->first = context->seen;
    look->entries = entries;
    at = look->first % entries;
    pending = (ring->tail + entries - at) % entries;
    look->position = look->first + pending;
    look->kernel = context->kernel;
    look->now = bpf_ktime_get_ns();
    look->events = (const void *)(id + sizeof(*ring));
    look->consumed = (ring->head + entries - at) % entries;
    if (look->consumed > pending)
        look->consumed = 0;
    return at_once(pending);
}

__noinline int end_look(__u64 memory, __u64 id)
{
    struct abi_aio_key key = {.memory = memory, .id = id};
    struct abi_aio *context = bpf_map_lookup_elem(&aio_contexts, &key);
    struct scratch_aio *scratch = scratch_of();

    if (scratch && context && scratch->look.first + scratch->look.done > context->seen)
        context->seen = scratch->look.first + scratch->look.done;
    return 0;
}

static __always_inline void look_at_ring(__u64 memory, __u64 id)
{
    __u32 pending = begin_look(memory, id);

    if (!pending)
        return;
    bpf_loop(pending, look_at_event, NULL, 0);
    end_look(memory, id);
}

#endif
