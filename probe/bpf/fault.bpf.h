/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page fault under way. The kernel tells when it looks for a file's page and when a major fault has ended, and
 * nothing at the end of a minor one. But it counts both in the task, so a fault that is found open after the count has
 * moved on has ended as a minor one; and one that is looked for again at the same count is still the same.
 */
#ifndef UNBLEND_PROBE_FAULT_H
#define UNBLEND_PROBE_FAULT_H

#include "probe/bpf/async.bpf.h"
#include "probe/bpf/volume.bpf.h"

static __always_inline __u32 faults_of(struct task_struct *task)
{
    return task->min_flt + task->maj_flt;
}

static __always_inline bool in_fault(const struct abi_task *state, struct task_struct *task)
{
    return state->fault_volume && faults_of(task) == state->fault_number;
}

static __always_inline void count_minor(struct abi_task *state, struct task_struct *task)
{
    struct abi_thread *thread = thread_of(state, task);
    struct abi_detail *detail = thread ? detail_of(thread, state->fault_volume) : NULL;

    if (!detail)
        return;
    detail->minor_faults++;
    detail->touched++;
}

/* What has become of the last fault. */
static __always_inline void settle_fault(struct abi_task *state, struct task_struct *task)
{
    __u32 number = faults_of(task);

    if (!state->fault_volume || number == state->fault_number)
        return;
    /* A major one that nobody was told of is the kernel's own: MAP_POPULATE, mlock. */
    if (number != state->fault_number + 1 || (__u32)task->min_flt != state->fault_minor)
        count_minor(state, task);
    state->fault_volume = ABI_VOLUME_NONE;
}

/* The kernel needs a page of that file, a trusted pointer. */
static __always_inline void open_fault(struct abi_task *state, struct task_struct *task, struct inode *inode,
                                       __u32 write)
{
    struct super_block *super = inode->i_sb;
    bool same = state->fault_inode == (__u64)inode;

    settle_fault(state, task);
    if (state->fault_volume && same)
        return; /* once more, after waiting */
    state->fault_inode = (__u64)inode;
    /* The addresses are read back as numbers: the verifier has them as pointers. */
    state->fault_volume = (__u64)super;
    state->fault_volume = volume_of_inode(*(volatile __u64 *)&state->fault_inode,
                                          *(volatile __u64 *)&state->fault_volume, state->thread);
    state->fault_number = faults_of(task);
    state->fault_minor = task->min_flt;
    state->fault_write = write;
    state->fault_pages = 0;
    state->fault_ns = 0;
}

/* Fault-around is about to map the pages of a range that are in memory, maybe the one that is needed. */
static __always_inline void map_around(struct inode *inode, __u32 write, bool again)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = acting_state(task);

    if (state && !is_done(state, (__u64)inode, faults_of(task), again))
        open_fault(state, task, inode, write);
}

/* It did not: the file has to give it. */
static __always_inline void look_for_page(struct inode *inode, __u32 write, bool again)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = acting_state(task);

    if (!state || is_done(state, ~(__u64)inode, faults_of(task), again))
        return;
    open_fault(state, task, inode, write);
    if (!state->fault_ns)
        state->fault_ns = bpf_ktime_get_ns();
}

#endif
