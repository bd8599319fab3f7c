/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A system call as the registers have it: its number, its arguments, its result; of 64-bit and of 32-bit programs. */
#ifndef UNBLEND_PROBE_CALL_H
#define UNBLEND_PROBE_CALL_H

#include "probe/bpf/volume.bpf.h"

/*
 * Ends the program where this stands: clang would jump to one end of all ways, which lies behind what is rare. clang goes
 * on behind it, and so may believe that it can; the verifier knows better, and takes the condition away. Each has a number
 * of its own, else clang would make one of those that look alike.
 */
#define END_HERE() asm volatile("r0 = 0\n\tif r0 == %0 goto +1\n\texit" ::"i"(__COUNTER__ + 1) : "r0", "memory")

#if defined(__TARGET_ARCH_x86)
#define COMPAT_STATUS 2 /* TS_COMPAT */
#define USER_CS       0x33 /* __USER_CS */
#define STAT_MODE     24
#define STAT_SIZE     48
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

/*
 * Whether it is certain at its start, without a look at the task, that a call is a 64-bit one: the processor's system
 * call instruction leaves in cx where it goes on. An int 0x80 in 64-bit code, which does not, cannot have that in cx by
 * chance: there is an int 0x80 before it, and no system call instruction that would have left it.
 */
static __always_inline bool is_plainly_64_bit(const struct pt_regs *regs)
{
    return regs->cx == regs->ip && regs->cs == USER_CS;
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
#define STAT_SIZE   48
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

static __always_inline bool is_plainly_64_bit(const struct pt_regs *regs)
{
    return false;
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

#endif
