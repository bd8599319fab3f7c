/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A system call as the registers have it: its number, its arguments, and where the table says to look. */
#ifndef UNBLEND_PROBE_CALL_H
#define UNBLEND_PROBE_CALL_H

#include "probe/bpf/volume.bpf.h"

#define AT_EMPTY_PATH 0x1000

#if defined(__TARGET_ARCH_x86)
#define COMPAT_STATUS 2 /* TS_COMPAT */
#define STAT_MODE     24
#define STAT_RDEV     40
static __always_inline long number_of(struct pt_regs *regs)
{
    return regs->orig_ax;
}

static __always_inline long result_of(struct pt_regs *returned)
{
    return returned->ax;
}

static __always_inline bool is_compat(struct task_struct *task)
{
    return task->thread_info.status & COMPAT_STATUS;
}

/* Number which of the arguments, from 0; 0 for an argument that a call does not have. */
static __always_inline __u64 argument_of(struct pt_regs *regs, int which)
{
    switch (which) {
    case 0:
        return regs->di;
    case 1:
        return regs->si;
    case 2:
        return regs->dx;
    case 3:
        return regs->r10;
    case 4:
        return regs->r8;
    }
    return 0;
}
/* The same of a 32-bit call. */
static __always_inline __u64 compat_argument_of(struct pt_regs *regs, int which)
{
    switch (which) {
    case 0:
        return (__u32)regs->bx;
    case 1:
        return (__u32)regs->cx;
    case 2:
        return (__u32)regs->dx;
    case 3:
        return (__u32)regs->si;
    case 4:
        return (__u32)regs->di;
    }
    return 0;
}
#else
#define COMPAT_FLAG (1UL << 22) /* TIF_32BIT */
#define STAT_MODE   16
#define STAT_RDEV   32
static __always_inline long number_of(struct pt_regs *regs)
{
    return regs->syscallno;
}

static __always_inline long result_of(struct pt_regs *returned)
{
    return returned->regs[0];
}

static __always_inline bool is_compat(struct task_struct *task)
{
    return task->thread_info.flags & COMPAT_FLAG;
}

static __always_inline __u64 argument_of(struct pt_regs *regs, int which)
{
    switch (which) {
    case 0:
        return regs->orig_x0;
    case 1:
        return regs->regs[1];
    case 2:
        return regs->regs[2];
    case 3:
        return regs->regs[3];
    case 4:
        return regs->regs[4];
    }
    return 0;
}

/* There is no table of 32-bit calls on this architecture. */
static __always_inline __u64 compat_argument_of(struct pt_regs *regs, int which)
{
    return argument_of(regs, which);
}
#endif

static __always_inline __u64 argument_in(struct pt_regs *regs, bool compat, int which)
{
    return compat ? compat_argument_of(regs, which) : argument_of(regs, which);
}

/* An offset of 64 bits, which 32-bit calls give in halves. */
static __always_inline __u64 offset_argument(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat)
{
    __u64 low = argument_in(regs, compat, 3);

    return compat && shape->wide ? low | compat_argument_of(regs, 4) << 32 : low;
}

/* Whether a stat is of what its caller has open: by descriptor, as fstat(), which C libraries make a call with an empty path. */
static __always_inline bool is_of_open(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat)
{
    if (shape->shape == ABI_SHAPE_FD)
        return true;
    if (shape->fd < 0 || (shape->shape != ABI_SHAPE_STAT && shape->shape != ABI_SHAPE_STATX))
        return false;
    return (shape->shape == ABI_SHAPE_STATX ? argument_in(regs, compat, 2) : argument_in(regs, compat, 3)) & AT_EMPTY_PATH;
}

static __always_inline int directory_argument(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat)
{
    return shape->fd < 0 ? AT_FDCWD : (int)argument_in(regs, compat, shape->fd);
}

#endif
