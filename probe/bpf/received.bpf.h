/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread's credit: bytes that it has received from the network and not written to a file yet. And what its process has
 * received, which another of its threads may write.
 */
#ifndef UNBLEND_PROBE_RECEIVED_H
#define UNBLEND_PROBE_RECEIVED_H

#include "probe/bpf/task.bpf.h"

static __always_inline __u64 smaller(__u64 a, __u64 b)
{
    return a < b ? a : b;
}

/* A thread that has touched no storage so far has no place for a credit. */
static __always_inline void receive(const struct abi_task *state, __u64 bytes)
{
    struct abi_thread *thread = thread_in(state);
    __u64 *credit = thread ? bpf_map_lookup_elem(&received, &state->thread) : NULL;
    struct abi_process *process = state->process ? process_at(state->process) : NULL;

    if (process)
        __sync_fetch_and_add(&process->received_bytes, bytes);
    if (!credit)
        return;
    *credit = smaller((thread->receiving ? *credit : 0) + bytes, ABI_RECEIVED_MAX);
    thread->receiving = 1;
}

/*
 * A write of so many bytes has succeeded: how many of them are covered. Global, so that the verifier looks at it once.
 */
__noinline int account_received(__u32 thread_index, __u64 volume, __u32 bytes)
{
    struct abi_thread *thread = thread_at(thread_index);
    __u64 *credit = bpf_map_lookup_elem(&received, &thread_index);
    struct abi_detail *detail;
    __u64 covered;

    if (!thread || !credit)
        return 0;
    covered = smaller(*credit, bytes);
    *credit -= covered;
    if (!*credit)
        thread->receiving = 0;
    detail = covered ? detail_of(thread, volume) : NULL;
    if (!detail)
        return 0;
    detail->received_bytes += covered;
    detail->touched++;
    return 0;
}

#endif
