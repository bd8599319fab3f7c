/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that is calling, found by where the kernel keeps its registers: its state is not asked for. NULL says nothing
 * about it: whoever gets that asks the kernel.
 */
#ifndef UNBLEND_PROBE_RUNNING_H
#define UNBLEND_PROBE_RUNNING_H

#include "probe/bpf/file.bpf.h"
#include "probe/bpf/task.bpf.h"

#define RUNNING     4096 /* a power of two; threads that share a place ask the kernel more often */
#define STACK_SHIFT 14   /* kernel stacks are as far from each other, at least */

/*
 * The threads that made calls, by their kernel stacks: looking here costs less than asking the kernel for the current
 * task or its state, which are calls. Read often and hardly ever written, so CPUs may share cache lines.
 */
static volatile __u32 running[RUNNING] SEC(".data.running");

/* The calling thread's place. The verifier allows no arithmetic with an address but to tell how far it is from another. */
static __always_inline volatile __u32 *running_here(const struct pt_regs *regs)
{
    __u64 distance = (__u64)regs - (__u64)running;

    return &running[distance >> STACK_SHIFT & (RUNNING - 1)];
}

/*
 * The calling thread's entry, if it is in its place; else NULL. Where the end of a thread may have been missed, the next
 * one may have its stack.
 */
static __always_inline struct abi_thread *running_thread(const struct pt_regs *regs)
{
    struct abi_thread *thread = bpf_map_lookup_elem(&threads, (__u32 *)running_here(regs));

    if (!thread || thread->registers != (__u64)regs)
        return NULL;
    if (config.twice && thread->pid != (__u32)bpf_get_current_task_btf()->pid)
        return NULL;
    return thread;
}

/* The entry of a thread with that state, if it has one, which is the running one from now on. */
static __always_inline struct abi_thread *run_thread(struct abi_task *state, struct task_struct *task,
                                                     const struct pt_regs *regs)
{
    struct abi_thread *thread = thread_in(state);

    if (!thread)
        return NULL;
    thread->pid = task->pid; /* another one since an execve by a thread that was not the first */
    thread->registers = (__u64)regs;
    thread->task = (__u64)task;
    *running_here(regs) = state->thread;
    return thread;
}

/* The task of the calling thread, whose entry that is. */
static __always_inline struct task_struct *task_of(const struct abi_thread *thread)
{
#ifdef CAN_CAST
    return CAST(struct task_struct, thread->task);
#else
    return bpf_get_current_task_btf();
#endif
}

#endif
