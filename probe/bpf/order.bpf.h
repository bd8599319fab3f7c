/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequential, consecutive or random: where a transfer starts on an open file. */
#ifndef UNBLEND_PROBE_ORDER_H
#define UNBLEND_PROBE_ORDER_H

#include "probe/bpf/task.bpf.h"

#include <bpf/bpf_core_read.h>

/*
 * Where a transfer of some bytes starts, seen from the one before it on the same open file. The first one is expected
 * at offset 0. start: UINT64_MAX when the file's own offset was used, which has moved on by now.
 */
static __always_inline __u32 order_of(const struct abi_task *state, __u64 start, __u64 bytes)
{
    struct abi_position *last, fresh = {.inode = state->inode};
    struct file *file = (struct file *)state->file;
    __u64 address = state->file;
    __u32 order;

    if (start == UINT64_MAX)
        start = BPF_CORE_READ(file, f_pos) - bytes;
    last = bpf_map_lookup_elem(&positions, &address);
    if (!last || last->inode != fresh.inode) {
        fresh.end = start + bytes;
        bpf_map_update_elem(&positions, &address, &fresh, BPF_ANY);
        return start ? ABI_SEQUENTIAL : ABI_CONSECUTIVE;
    }
    order = start > last->end ? ABI_SEQUENTIAL : start < last->end ? ABI_RANDOM : ABI_CONSECUTIVE;
    last->end = start + bytes;
    return order;
}

/* A new open file may lie where an old one was. */
static __always_inline void forget_position(struct file *file)
{
    __u64 address = (__u64)file;
    struct abi_position *last = bpf_map_lookup_elem(&positions, &address);

    if (last)
        last->end = 0;
}

#endif
