/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libaio. io_submit() notes each request; it is accounted when its completion is seen: in what io_getevents() returns,
 * and in the ring of completions, which lies in the program's memory and from which a program may fetch them without a
 * call. The ring is looked at whenever the program calls; none is overwritten before the next io_submit(). Pages of
 * the ring that cannot be read are such as the program has never touched, so nothing was fetched from there unseen.
 */
#ifndef UNBLEND_PROBE_AIO_H
#define UNBLEND_PROBE_AIO_H

#include "probe/bpf/aiosubmission.bpf.h"

/* --- ends --- */

static long look_a_last_time(void *map, const struct abi_aio_key *key, struct abi_aio *context, __u32 *tgid)
{
    if (context->tgid == *tgid)
        look_at_ring(key->memory, key->id);
    return 0;
}

static long forget_context(void *map, const struct abi_aio_key *key, struct abi_aio *context, __u32 *tgid)
{
    if (context->tgid == *tgid)
        bpf_map_delete_elem(map, key);
    return 0;
}

/* The last thread of a process exits. It has its memory still, or not, as the kernel likes. */
__noinline int async_end(__u32 tgid)
{
    __u32 *uses = bpf_map_lookup_elem(&async_users, &tgid);
    struct scratch_aio *s;

    if (!can_loop() || !uses)
        return 0;
    s = *uses == ABI_USES_AIO ? take_room(&scratch_aio) : NULL;
    if (s) {
        bpf_for_each_map_elem(&aio_contexts, look_a_last_time, &tgid, 0);
        give_room(&s->room);
    }
    if (*uses == ABI_USES_AIO)
        bpf_for_each_map_elem(&aio_contexts, forget_context, &tgid, 0);
    remove_process(tgid);
    bpf_map_delete_elem(&async_users, &tgid);
    return 0;
}

/* What was under way when the context was destroyed: nobody learns its result. */
static long remove_of_context(void *map, const struct abi_async_key *key, struct abi_async *entry, __u64 *kernel)
{
    if (key->owner != *kernel)
        return 0;
    if (take(entry) && !is_stale(entry))
        count(ABI_COUNTER_KILLED, 1);
    bpf_map_delete_elem(map, key);
    return 0;
}

__noinline int destroy_context(__u64 memory, __u64 id)
{
    struct abi_aio_key key = {.memory = memory, .id = id};
    struct abi_aio *context = bpf_map_lookup_elem(&aio_contexts, &key);
    __u64 kernel = context ? context->kernel : 0;

    if (!kernel)
        return 0;
    bpf_for_each_map_elem(&async, remove_of_context, &kernel, 0);
    bpf_map_delete_elem(&aio_contexts, &key);
    return 0;
}

/* --- calls --- */

__noinline __u32 begin_submission(__u32 call, __u64 id, __u64 number, __u64 controls)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = known_state(task);

    if (!state)
        return 0;
    join_users(state, task->tgid, ABI_USES_AIO);
    return describe_submission(call, id, number, controls, 0);
}

/* After a call: how many requests were refused, or how many completions are in the program's array. */
__noinline __u32 begin_leave(__u32 call, __u64 id, __u64 number, __u64 address, long result)
{
    struct scratch_aio *scratch = scratch_of();
    struct abi_aio *context;

    switch (call & ~AIO_COMPAT) {
    case ABI_AIO_SETUP:
        id = 0;
        bpf_probe_read_user(&id, call & AIO_COMPAT ? sizeof(__u32) : sizeof(__u64), (const void *)address);
        if (!result)
            context_of(id, true);
        return 0;
    case ABI_AIO_SUBMIT:
        return describe_submission(call, id, number, address, result);
    case ABI_AIO_GETEVENTS:
        context = result > 0 ? context_of(id, false) : NULL;
        if (!context || !scratch)
            return 0;
        scratch->look.kernel = context->kernel;
        scratch->look.now = bpf_ktime_get_ns();
        scratch->look.events = (const void *)address;
        scratch->look.entries = scratch->look.done = scratch->look.stuck = 0;
        if (!context->readable)
            __sync_fetch_and_add(&context->reaped, result);
        return at_once(result);
    }
    return 0;
}

static __always_inline void look_before(__u32 call, __u64 id, __u64 number, __u64 controls)
{
    struct task_struct *task = bpf_get_current_task_btf();
    __u32 tgid = task->tgid, requests;

    switch (call & ~AIO_COMPAT) {
    case ABI_AIO_EXIT:
        if (bpf_map_lookup_elem(&async_users, &tgid))
            bpf_for_each_map_elem(&aio_contexts, look_a_last_time, &tgid, 0);
        break;
    case ABI_AIO_DESTROY:
        look_at_ring((__u64)memory_of(task), id);
        break;
    case ABI_AIO_SUBMIT:
        requests = begin_submission(call, id, number, controls);
        if (!requests)
            break;
        look_at_ring((__u64)memory_of(task), id);
        bpf_loop(requests, note_control, NULL, 0);
        break;
    }
}

static __always_inline void look_after(__u32 call, __u64 id, __u64 number, __u64 address, long result)
{
    __u64 memory = (__u64)memory_of(bpf_get_current_task_btf());
    __u32 events = begin_leave(call, id, number, address, result);

    switch (call & ~AIO_COMPAT) {
    case ABI_AIO_SUBMIT:
        if (events)
            bpf_loop(events, forget_control, NULL, 0);
        look_at_ring(memory, id);
        break;
    case ABI_AIO_GETEVENTS:
        if (events)
            bpf_loop(events, look_at_event, NULL, 0);
        look_at_ring(memory, id);
        break;
    case ABI_AIO_DESTROY:
        if (!result)
            destroy_context(memory, id);
        break;
    }
}

/* Before a call. Global, as the next one, so that the verifier looks at it once. */
__noinline int aio_enter(__u32 call, __u64 id, __u64 number, __u64 controls)
{
    struct scratch_aio *s = can_loop() ? take_room(&scratch_aio) : NULL;

    if (s) {
        look_before(call, id, number, controls);
        give_room(&s->room);
    } else if ((call & ~AIO_COMPAT) == ABI_AIO_SUBMIT) {
        count(ABI_COUNTER_LOST, at_once(number));
    }
    return 0;
}

/* And after it. number, address: of what it submits, or where it puts what it returns. */
__noinline int aio_leave(__u32 call, __u64 id, __u64 number, __u64 address, long result)
{
    struct scratch_aio *s = can_loop() ? take_room(&scratch_aio) : NULL;

    if (s) {
        look_after(call, id, number, address, result);
        give_room(&s->room);
    }
    return 0;
}

#endif
