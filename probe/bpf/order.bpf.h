/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequential, consecutive or random: where a transfer starts on an open file. */
#ifndef UNBLEND_PROBE_ORDER_H
#define UNBLEND_PROBE_ORDER_H

#include "probe/bpf/task.bpf.h"

#include <bpf/bpf_core_read.h>

/* The first transfer of a file that was open before the probe: known when it goes on where the file's offset stood. */
static __always_inline __u32 order_of_seeded(struct abi_position *last, __u64 inode, __u64 start, __u64 bytes,
                                              bool own_offset)
{
    bool continues = own_offset && start == last->end;

    last->inode = inode;
    last->end = start + bytes;
    return continues ? ABI_CONSECUTIVE : ABI_ORDER_UNKNOWN;
}

/*
 * Where a transfer of some bytes starts, seen from the one before it on the same open file. The first one is expected
 * at offset 0. start: UINT64_MAX when the file's own offset was used, which has moved on by now.
 */
static __always_inline __u32 order_of(const struct abi_task *state, __u64 start, __u64 bytes)
{
    struct abi_position *last, fresh = {.inode = state->inode};
    struct file *file = (struct file *)state->file;
    __u64 address = state->file;
    bool own_offset = start == UINT64_MAX;
    __u32 order;

    if (own_offset)
        start = BPF_CORE_READ(file, f_pos) - bytes;
    last = bpf_map_lookup_elem(&positions, &address);
    if (last && last->inode == (fresh.inode | ABI_SEEDED))
        return order_of_seeded(last, fresh.inode, start, bytes, own_offset);
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

    if (!last)
        return;
    last->inode &= ~ABI_SEEDED;
    last->end = 0;
}

#endif
