/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that is calling, found by its CPU and by where the kernel keeps its registers: its state is not asked for.
 * NULL says nothing about it: whoever gets that asks the kernel.
 */
#ifndef UNBLEND_PROBE_RUNNING_H
#define UNBLEND_PROBE_RUNNING_H

#include "probe/bpf/file.bpf.h"
#include "probe/bpf/task.bpf.h"

#define CPUS 256 /* a power of two; where there are more, some share and ask the kernel more often */

/*
 * The thread that made the last call on a CPU: most often it makes the next one, too, and looking here costs less than
 * asking the kernel for its state. No map of the kernel's for each CPU, as this is found by one instruction.
 */
static volatile struct {
    __u32 thread;
    __u32 reserved[15]; /* CPUs do not share cache lines */
} running[CPUS] SEC(".data.running");

static __always_inline volatile __u32 *running_here(void)
{
    return &running[bpf_get_smp_processor_id() & (CPUS - 1)].thread;
}

/*
 * The calling thread's entry, if it made the last call on this CPU, too; else NULL. It is known by where the kernel
 * keeps its registers, which is at hand: asking for the current task is a call. Where the end of a thread may have been
 * missed, the next one may have its place in memory.
 */
static __always_inline struct abi_thread *running_thread(const struct pt_regs *regs)
{
    struct abi_thread *thread = bpf_map_lookup_elem(&threads, (__u32 *)running_here());

    if (unlikely(!thread || thread->registers != (__u64)regs))
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
    *running_here() = state->thread;
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
