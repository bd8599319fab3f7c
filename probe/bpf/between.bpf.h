/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A transfer between descriptors (sendfile, splice, copy_file_range): where its sides start, and whether it reads at all.
 */
#ifndef UNBLEND_PROBE_BETWEEN_H
#define UNBLEND_PROBE_BETWEEN_H

#include "probe/bpf/order.bpf.h"
#include "probe/bpf/shape.bpf.h"
#include "probe/bpf/volume.bpf.h"

/*
 * Where one side started: the offset that the call was given in memory, or else the file's own, has moved on by what was
 * transferred. argument: where the offset's address is; -1: none can be given.
 * UINT64_MAX when it cannot be read.
 */
static __always_inline __u64 start_of_side(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat,
                                           int argument, __u64 file, long result)
{
    const void *address = argument < 0 ? NULL : (const void *)argument_in(regs, compat, argument);
    __u64 end = 0;
    __u32 half = 0;

    if (!address)
        return offset_of(file) - result;
    if (shape->third == sizeof(half)) {
        if (bpf_probe_read_user(&half, sizeof(half), address))
            return UINT64_MAX;
        end = half;
    } else if (bpf_probe_read_user(&end, sizeof(end), address)) {
        return UINT64_MAX;
    }
    return end - result;
}

/* Of the side whose file is the state's. */
static __always_inline __u32 order_of_side(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat,
                                           int argument, long result, struct abi_task *state, struct abi_thread *thread)
{
    __u64 start = start_of_side(shape, regs, compat, argument, state->file, result);

    return start == UINT64_MAX ? ABI_ORDER_UNKNOWN : order_of(place_of(state, thread), start, result);
}

/* Of the writing side, whose file is the state's from now on. */
static __always_inline __u32 order_written(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat,
                                           long result, struct task_struct *task, struct abi_task *state,
                                           struct abi_thread *thread)
{
    int fd = (int)argument_in(regs, compat, shape->path);
    struct opened opened;

    if (result <= 0 || control.no_order || !look_up(task, fd, &opened))
        return ABI_ORDER_UNKNOWN;
    state->file = (__u64)opened.file;
    state->inode = (__u64)opened.inode;
    state->place = (__u32)fd % ABI_FILE_CACHE;
    return order_of_side(shape, regs, compat, shape->path + 1 == shape->fd ? -1 : shape->path + 1, result, state, thread);
}

/* Whether a file may have been copied to another without being read: then it is not known where that started, nor what the
   page cache did. */
static __always_inline bool may_not_read(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat,
                                         struct task_struct *task, const struct abi_task *state)
{
    struct file *to;

    if (state->volume2 == ABI_VOLUME_NONE || shape->path < shape->fd) /* sendfile() reads */
        return false;
    to = file_of(task, (int)argument_in(regs, compat, shape->path));
    return !to || may_copy_itself(to);
}

/* Of the reading side, as long as the state has its file. */
static __always_inline __u32 order_read(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat,
                                        long result, struct task_struct *task, struct abi_task *state,
                                        struct abi_thread *thread)
{
    __u32 order = order_of_side(shape, regs, compat, shape->fd + 1, result, state, thread);

    return may_not_read(shape, regs, compat, task, state) ? ABI_ORDER_UNKNOWN : order;
}

#endif
