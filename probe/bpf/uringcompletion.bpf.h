/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What came of a request of io_uring: its result, the file that it has found or opened, and its account, once for each,
 * whoever sees it completed.
 */
#ifndef UNBLEND_PROBE_URINGCOMPLETION_H
#define UNBLEND_PROBE_URINGCOMPLETION_H

#include "probe/bpf/sketch.bpf.h"
#include "probe/bpf/stat.bpf.h"
#include "probe/bpf/uringrequest.bpf.h"

#define O_TMPFILE_BIT 020000000
#define FMODE_CREATED 0x100000

/* A file that is opened for the ring has no descriptor. */
static __always_inline struct file *file_opened(const struct abi_async *entry, long result)
{
    struct io_ring_ctx *ring = (struct io_ring_ctx *)entry->ring;

    if (entry->slot == FILE_INDEX_ALLOC)
        return registered_file(ring, result);
    if (entry->slot)
        return registered_file(ring, entry->slot - 1);
    return file_of(bpf_get_current_task_btf(), result);
}

static __always_inline void remember_slot(const struct abi_async *entry, __u64 volume, long result)
{
    struct abi_slot_key key = {.ring = entry->ring,
                               .slot = entry->slot == FILE_INDEX_ALLOC ? result + 1 : entry->slot};

    if (entry->slot)
        bpf_map_update_elem(&ring_slots, &key, &volume, BPF_ANY);
}

static __always_inline void finish_open(const struct abi_async *entry, long result, __u64 now)
{
    struct measure m = {.op = OP_OPEN, .volume = entry->volume, .error_code = result < 0 ? -result : 0};
    struct file *file = result >= 0 ? file_opened(entry, result) : NULL;
    __u32 tree = entry->tree;

    if (entry->argument & O_TMPFILE_BIT)
        m.op = OP_CREATE;
    if (file) {
        struct inode *inode = BPF_CORE_READ(file, f_inode);

        forget_position((__u64)file, (__u64)inode, 0);
        if (BPF_CORE_READ(file, f_mode) & FMODE_CREATED)
            m.op = OP_CREATE;
        m.volume = volume_of_file(file);
        m.sized = (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG;
        m.size = BPF_CORE_READ(inode, i_size);
        remember_slot(entry, m.volume, result);
        tree = tree_asked(file, m.volume, entry->process);
        if (m.sized && m.volume != ABI_VOLUME_NONE)
            tell_file((__u64)inode, m.volume, (__u64)entry->process << 32 | entry->job, now, tree);
    }
    account_async(entry, &m, now);
    count_measured(tree, &m);
}

static __always_inline __u64 volume_closed(const struct abi_async *entry)
{
    struct abi_slot_key key = {.ring = entry->ring, .slot = entry->slot};
    __u64 *volume = entry->volume == ABI_VOLUME_NONE ? bpf_map_lookup_elem(&ring_slots, &key) : NULL;

    return volume ? *volume : entry->volume;
}

static __always_inline __u64 volume_described(struct abi_async *entry)
{
    __u64 volume = volume_of_stat(LAYOUT_STATX, NULL, (const void *)entry->argument, &entry->order);

    return volume == ABI_VOLUME_UNKNOWN ? volume_of_path(entry->directory, entry->path) : volume;
}

/* The file that the kernel has found for the request, which is known at the latest when it has run. */
static __always_inline void finish_file(struct io_kiocb *request, struct abi_async *entry, long result)
{
    struct file *file = BPF_CORE_READ(request, file);

    if (!file)
        return;
    if (entry->volume <= ABI_VOLUME_UNKNOWN)
        note_file(entry, file, volume_of_file(file));
    if (entry->op == OP_STAT)
        entry->order = ABI_OF_OPEN;
    if (entry->unplaced && result > 0)
        entry->order = order_asked(file, BPF_CORE_READ(file, f_pos) - result, result);
}

/* False when somebody else does that. */
static __always_inline bool finish(struct io_kiocb *request, const struct abi_async_key *key,
                                   struct abi_async *entry)
{
    struct uring_operation what = operation_of(entry->opcode);
    long result = result_of_request(key->request);
    __u64 now = bpf_ktime_get_ns();

    if (!take(entry))
        return false;
    if (is_stale(entry)) {
        bpf_map_delete_elem(&async, key);
        return true;
    }
    switch (what.shape) {
    case URING_OPEN:
    case URING_OPEN_HOW:
        finish_open(entry, result, now);
        break;
    case URING_FD:
    case URING_TRANSFER:
    case URING_VECTOR:
        finish_file(request, entry, result);
        account_result(entry, entry->op, entry->volume, result, now);
        break;
    case URING_SPLICE:
        account_result(entry, OP_WRITE, entry->volume2, result, now);
        account_result(entry, OP_READ, entry->volume, result, now);
        break;
    case URING_CLOSE:
        account_result(entry, OP_CLOSE, volume_closed(entry), result, now);
        break;
    case URING_STATX:
        account_result(entry, OP_STAT, result ? entry->volume : volume_described(entry), result, now);
        break;
    default:
        account_result(entry, entry->op, entry->volume, result, now);
    }
    bpf_map_delete_elem(&async, key);
    return true;
}

#endif
