/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A system call as the registers have it: its number, its arguments, and where the table says to look. */
#ifndef UNBLEND_PROBE_CALL_H
#define UNBLEND_PROBE_CALL_H

#include "probe/bpf/volume.bpf.h"

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

static __always_inline void arguments_of(struct pt_regs *regs, __u64 argument[6])
{
    argument[0] = regs->di;
    argument[1] = regs->si;
    argument[2] = regs->dx;
    argument[3] = regs->r10;
    argument[4] = regs->r8;
    argument[5] = regs->r9;
}

static __always_inline void compat_arguments_of(struct pt_regs *regs, __u64 argument[6])
{
    argument[0] = (__u32)regs->bx;
    argument[1] = (__u32)regs->cx;
    argument[2] = (__u32)regs->dx;
    argument[3] = (__u32)regs->si;
    argument[4] = (__u32)regs->di;
    argument[5] = (__u32)regs->bp;
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

static __always_inline void arguments_of(struct pt_regs *regs, __u64 argument[6])
{
    argument[0] = regs->orig_x0;
    argument[1] = regs->regs[1];
    argument[2] = regs->regs[2];
    argument[3] = regs->regs[3];
    argument[4] = regs->regs[4];
    argument[5] = regs->regs[5];
}

/* Their table is empty on this architecture. */
static __always_inline void compat_arguments_of(struct pt_regs *regs, __u64 argument[6])
{
    arguments_of(regs, argument);
}
#endif

static __always_inline __u64 pick(const __u64 argument[6], int which)
{
    switch (which) {
    case 0:
        return argument[0];
    case 1:
        return argument[1];
    case 2:
        return argument[2];
    case 3:
        return argument[3];
    case 4:
        return argument[4];
    }
    return 0;
}

/* A 32-bit call's arguments, an offset put together from its halves. */
static __always_inline void read_arguments(const volatile struct abi_syscall *shape, struct pt_regs *regs,
                                           bool compat, __u64 argument[6])
{
    if (!compat) {
        arguments_of(regs, argument);
        return;
    }
    compat_arguments_of(regs, argument);
    if (shape->wide)
        argument[3] |= argument[4] << 32;
}

static __always_inline int directory_argument(const volatile struct abi_syscall *shape,
                                              const __u64 argument[6])
{
    return shape->fd < 0 ? AT_FDCWD : (int)pick(argument, shape->fd);
}

#endif
