/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A system call as the table has it (config.syscalls): whether it counts, and which of its arguments say what it is
 * about. compat: a 32-bit program made it, whose calls have numbers and an order of arguments of their own.
 */
#ifndef UNBLEND_PROBE_SHAPE_H
#define UNBLEND_PROBE_SHAPE_H

#include "probe/bpf/call.bpf.h"

#define AT_EMPTY_PATH 0x1000

/* The table's entry of a number below ABI_SYSCALLS. */
static __always_inline const volatile struct abi_syscall *entry_of(long number)
{
    const volatile struct abi_syscall *shape = &config.syscalls[number];

    /* Made once and kept: clang would make it again from the number, whose bounds Linux 6.12 forgets. */
    barrier_var(shape);
    return shape;
}

/* NULL for a call that is not counted, neither of 64-bit nor of 32-bit programs. */
static __always_inline const volatile struct abi_syscall *shape_of(long number)
{
    const volatile struct abi_syscall *shape;

    if ((__u64)number >= ABI_SYSCALLS)
        return NULL;
    shape = entry_of(number);
    return shape->op || shape->compat ? shape : NULL;
}

/* The entry of a 32-bit call, or else of the 64-bit one; NULL when that one is not counted. */
static __always_inline const volatile struct abi_syscall *shape_for(const volatile struct abi_syscall *shape,
                                                                    bool compat)
{
    if (compat)
        shape += ABI_SYSCALLS;
    return shape->op ? shape : NULL;
}

/* What stands in abi_task.pending for a call. */
static __always_inline __u32 mark_of(long number, bool compat)
{
    return number + 1 + (compat ? ABI_SYSCALLS : 0);
}

/* A call by path that has none, but a descriptor, as utimensat(fd, NULL, ...). */
static __always_inline bool is_by_descriptor(const volatile struct abi_syscall *shape, struct pt_regs *regs)
{
    return shape->shape == ABI_SHAPE_PATH && shape->fd == 0 && shape->path == 1 && !argument_of(regs, 1);
}

/* fcntl(), which never counts. Another call of 32-bit programs may have its number. */
static __always_inline bool is_fcntl(const volatile struct abi_syscall *shape)
{
    return shape->shape == ABI_SHAPE_FCNTL && !shape->compat;
}

/* An offset of 64 bits, which 32-bit calls give in halves. */
static __always_inline __u64 offset_argument(const volatile struct abi_syscall *shape, struct pt_regs *regs,
                                             bool compat)
{
    __u64 low = argument_in(regs, compat, 3);

    return compat && shape->wide ? low | compat_argument_of(regs, 4) << 32 : low;
}

/* Whether a stat is of what its caller has open: by descriptor, as fstat(), which C libraries make a call with an empty
   path. */
static __always_inline bool is_of_open(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat)
{
    if (shape->shape == ABI_SHAPE_FD)
        return true;
    if (shape->fd < 0 || (shape->shape != ABI_SHAPE_STAT && shape->shape != ABI_SHAPE_STATX))
        return false;
    return (shape->shape == ABI_SHAPE_STATX ? argument_in(regs, compat, 2) : argument_in(regs, compat, 3)) &
           AT_EMPTY_PATH;
}

static __always_inline int directory_argument(const volatile struct abi_syscall *shape, struct pt_regs *regs,
                                              bool compat)
{
    return shape->fd < 0 ? AT_FDCWD : (int)argument_in(regs, compat, shape->fd);
}

#endif
