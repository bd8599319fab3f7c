/* SPDX-License-Identifier: GPL-2.0-or-later */
/* close_range(): one close for each open descriptor, looked at before they are gone. */
#ifndef UNBLEND_PROBE_RANGE_H
#define UNBLEND_PROBE_RANGE_H

#include "probe/bpf/volume.bpf.h"

#define CLOSE_RANGE_WORDS 8000 /* of 64 descriptors each; the verifier allows 8192 jumps */

/* One open descriptor that a close_range() may be about to close. Global: the verifier follows the loop, not this. */
__noinline int remember_close(struct abi_task *state, __u32 fd)
{
    struct file *file = file_of(bpf_get_current_task_btf(), (int)fd);
    __u64 volume = file ? volume_of_file(file) : ABI_VOLUME_NONE;

    if (!state || volume == ABI_VOLUME_NONE)
        return 0;
    for (int i = 0; i < ABI_RANGES; i++) {
        struct abi_range *range = &state->ranges[i];
        bool other = range->count && range->volume != volume;

        if (other && i + 1 < ABI_RANGES)
            continue;
        /* More volumes than places: the last place is for what cannot be told apart. */
        range->volume = other ? ABI_VOLUME_UNKNOWN : volume;
        range->count++;
        break;
    }
    return 0;
}

/* Those of a range that stand in one word of the bitmap of open descriptors. Global for the same reason. */
__noinline int remember_word(struct abi_task *state, __u32 word, __u32 first, __u32 end)
{
    struct task_struct *task = bpf_get_current_task_btf();
    __u64 bits = 0;

    bpf_probe_read_kernel(&bits, sizeof(bits), task->files->fdt->open_fds + word);
    if (word == first / 64)
        bits &= ~0ULL << first % 64;
    if (word == end / 64)
        bits &= ~0ULL >> (63 - end % 64);
    for (__u32 i = 0; i < 64 && bits; i++) {
        if (bits & 1)
            remember_close(state, word * 64 + i);
        bits >>= 1;
    }
    return 0;
}

/* A closed file is unknown to its descriptor afterwards: look before. */
static __noinline void remember_range(struct abi_task *state, __u32 first, __u32 end)
{
    struct task_struct *task = bpf_get_current_task_btf();
    __u32 word = first / 64;

    __builtin_memset(state->ranges, 0, sizeof(state->ranges));
    if (end >= task->files->fdt->max_fds)
        end = task->files->fdt->max_fds - 1;
    for (int i = 0; i < CLOSE_RANGE_WORDS; i++, word++) {
        if (word > end / 64)
            return;
        remember_word(state, word, first, end);
    }
    count(ABI_COUNTER_LOST, 1); /* at least: what is open behind half a million descriptors */
}

/* Not inlined, for the stack's sake: see enter_any(). */
static __noinline void record_ranges(const struct abi_task *state, long result, __u64 latency_ns)
{
    struct measure m = {.op = OP_CLOSE, .error_code = result < 0 ? -result : 0, .process = state->process};
    __u64 total = 0;

    for (int i = 0; i < ABI_RANGES; i++)
        total += state->ranges[i].count;
    m.latency_ns = total ? latency_ns / total : 0;
    m.end_ns = state->enter_ns + latency_ns;
    for (int i = 0; i < ABI_RANGES; i++) {
        m.volume = state->ranges[i].volume;
        m.count = state->ranges[i].count;
        if (m.count)
            record(&m, state->thread, state->job);
    }
}

#endif
