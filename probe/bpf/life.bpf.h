/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who belongs to whom: programs that follow threads and processes from fork to exit. Part of the first object. */
#ifndef UNBLEND_PROBE_LIFE_H
#define UNBLEND_PROBE_LIFE_H

#include "probe/bpf/aio.bpf.h"
#include "probe/bpf/fault.bpf.h"
#include "probe/bpf/order.bpf.h"

#include <bpf/bpf_tracing.h>

/* What a child has from its parent beside the job. */
static __always_inline void inherit(__u32 child_index, __u32 parent_index)
{
    struct abi_process *child = process_at(child_index), *parent = process_at(parent_index);

    if (!child_index || !parent_index || !child || !parent)
        return;
    child->ticket = parent->ticket;
    child->known = parent->known;
}

/* A process whose thread has no state: its calls find their job by its number. */
static __always_inline void remember_process(struct task_struct *child, __u32 tgid, __u32 job, __u32 parent)
{
    __u32 index;

    if (bpf_map_lookup_elem(&by_tgid, &tgid))
        return; /* a thread of a process that is known */
    index = new_process(child, tgid, job);
    if (index) {
        inherit(index, parent);
        bpf_map_update_elem(&by_tgid, &tgid, &index, BPF_ANY);
    }
}

static __always_inline int begin_life(struct task_struct *parent, struct task_struct *child)
{
    struct abi_task from = {}, *state = bpf_task_storage_get(&tasks, parent, NULL, 0);
    __u32 tgid = child->tgid, parent_tgid = parent->tgid, *known;

    if (state) {
        from.process = state->process;
        from.job = job_of(state->process, state->job);
    } else if (!config.all) {
        return 0;
    } else {
        known = bpf_map_lookup_elem(&by_tgid, &parent_tgid);
        from.process = known ? *known : 0;
        from.job = job_of(from.process, 0);
    }
    if (!state && tgid == parent_tgid && !from.process)
        return 0; /* a thread of a process not seen yet: known at its first call */
    state = new_state(child);
    if (!state && config.all) {
        remember_process(child, tgid, from.job, from.process);
        return 0;
    }
    if (!state) {
        count(ABI_COUNTER_LOST, 1);
        return 0;
    }
    state->job = given_job(from.job);
    if (tgid == parent_tgid) {
        state->process = from.process;
        if (!from.process && state->job)
            count(ABI_COUNTER_HOMELESS, 1);
        return 0;
    }
    if (state->job)
        count(ABI_COUNTER_FORKS, 1);
    state->process = new_process(child, tgid, from.job);
    if (!state->process && state->job)
        count(ABI_COUNTER_HOMELESS, 1);
    if (state->process) {
        inherit(state->process, from.process);
        bpf_map_update_elem(&by_tgid, &tgid, &state->process, BPF_ANY);
    }
    return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
    return begin_life(parent, child);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork_again, struct task_struct *parent, struct task_struct *child)
{
    return bpf_task_storage_get(&tasks, child, NULL, 0) ? 0 : begin_life(parent, child);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    struct abi_process *process = state ? process_at(state->process) : NULL;
    struct abi_thread *thread;

    if (!process || !state->process)
        return 0;
    bpf_probe_read_kernel_str(process->comm, sizeof(process->comm), task->comm);
    process->uid = task->cred->uid.val;
    thread = thread_in(state);
    if (!thread)
        return 0;
    /* Its job may be another one now, and so may the trees of the files that it keeps open. */
    thread->files_shift = 0;
    for (__u32 place = 0; config.tree_depth && place < ABI_FILE_CACHE; place++)
        file_at(thread, place)->tree = ABI_TREE_ANEW;
    return 0;
}

/* The thread group's last thread has gone, maybe one that the kernel made for io_uring, and that has no state. */
static __always_inline void end_process(struct task_struct *task)
{
    __u32 tgid = task->tgid, *known = bpf_map_lookup_elem(&by_tgid, &tgid);
    struct abi_process *process = known && *known ? process_at(*known) : NULL;

    if (!process || process->tgid != tgid)
        return;
    process->exited = 1;
    bpf_map_delete_elem(&by_tgid, &tgid);
}

/* The exit of a thread that has no state of its own. */
static __always_inline void end_spare(struct task_struct *task)
{
    __u32 pid = task->pid;
    struct abi_task *spare;

    if (!control.crowded)
        return;
    spare = bpf_map_lookup_elem(&spare_tasks, &pid);
    if (spare && spare->pending)
        count(ABI_COUNTER_KILLED, 1);
    drop_spare(task);
}

/* Whether a call is in flight that was seen to begin. */
static __always_inline bool is_pending(const struct abi_task *state, const struct abi_thread *thread)
{
    if (thread && thread->quick && thread->quick != ABI_NOT_QUICK)
        return thread->pending_ns >= control.since_ns;
    return state->pending && state->enter_ns >= control.since_ns;
}

static __always_inline void end_thread(struct abi_task *state, struct task_struct *task)
{
    struct abi_thread *thread = thread_at(state->thread);

    state->job = job_of(state->process, state->job);
    state->ended = 1;
    if (!state->uncounted)
        count(ABI_COUNTER_STATES, -1);
    if (is_pending(state, thread))
        count(ABI_COUNTER_KILLED, 1);
    state->pending = 0;
    settle_fault(state, task);
    if (thread) {
        for (__u32 place = 0; place < ABI_FILE_CACHE; place++)
            release_place(state->thread, place);
        thread->pending_op = 0;
        thread->quick = 0;
        thread->registers = 0;
        thread->pid |= ABI_DEAD;
        thread->dead = 1;
    }
    state->thread = 0;
    if (!state->process && state->job)
        count(ABI_COUNTER_HOMELESS, -1);
}

static __always_inline int end_life(struct task_struct *task)
{
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    bool last = task->signal->live.counter <= 0;

    if (last)
        async_end(task->tgid);
    if (!state)
        end_spare(task);
    else if (!state->ended)
        end_thread(state, task);
    if (last)
        end_process(task);
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
    return end_life(task);
}

/* What has ended does not end again. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit_again, struct task_struct *task)
{
    return end_life(task);
}

#endif
