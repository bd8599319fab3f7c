/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is running: the state of the current thread, its process and its job. */
#ifndef UNBLEND_PROBE_TASK_H
#define UNBLEND_PROBE_TASK_H

#include "probe/bpf/cgroup.bpf.h"
#include "probe/bpf/detail.bpf.h"

static __always_inline struct abi_process *process_at(__u32 index)
{
    return bpf_map_lookup_elem(&processes, &index);
}

/* The job of a process, or the inherited one where the process table was full. */
static __always_inline __u32 job_of(__u32 process_index, __u32 inherited)
{
    struct abi_process *process = process_at(process_index);

    return process_index && process ? process->job : inherited;
}

/* A job that was found is looked for again where it would be inherited without a place in the process table. */
static __always_inline __u32 given_job(__u32 job)
{
    return job & ABI_JOB_FOUND ? 0 : job;
}

/* A new entry in the process table for a thread group; 0 when the table is full. */
static __always_inline __u32 new_process(struct task_struct *leader, __u32 tgid, __u32 job)
{
    struct abi_process *process;
    __u32 index;

    if (bpf_map_pop_elem(&free_processes, &index))
        return 0;
    process = process_at(index);
    if (!process)
        return 0;
    process->tgid = tgid;
    process->job = job;
    process->uid = leader->cred->uid.val;
    process->start_ns = leader->start_boottime;
    process->cgroup = cgroup_of(leader);
    process->parent = leader->real_parent->tgid;
    bpf_probe_read_kernel_str(process->comm, sizeof(process->comm), leader->comm);
    return index;
}

/* Who starts as root often goes on as somebody else, with or without an execve. */
static __always_inline void know_user(__u32 index, struct task_struct *task)
{
    struct abi_process *process = process_at(index);

    if (index && process && process->uid != task->cred->uid.val)
        process->uid = task->cred->uid.val;
}

/* Gives back an entry that nobody has used. */
static __always_inline void drop_process(__u32 index)
{
    struct abi_process *process = process_at(index);

    if (process) {
        __builtin_memset(process, 0, sizeof(*process));
        bpf_map_push_elem(&free_processes, &index, BPF_ANY);
    }
}

/* A new state for a thread; NULL where there are as many as there may be. */
static __always_inline struct abi_task *new_state(struct task_struct *task)
{
    __u32 which = ABI_COUNTER_STATES;
    __u64 *states = bpf_map_lookup_elem(&counters, &which);
    struct abi_task *state;

    if (!states)
        return NULL;
    if (*states >= control.states_max) {
        control.crowded = 1;
        return NULL;
    }
    state = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (state)
        __sync_fetch_and_add(states, 1);
    return state;
}

/* The state of one call, for a thread that can have none of its own: it counts for its job alone. */
static __noinline struct abi_task *new_spare(struct task_struct *task)
{
    __u32 tgid = task->tgid, pid = task->pid, *known = bpf_map_lookup_elem(&by_tgid, &tgid);
    struct abi_task fresh = {.job = known ? job_of(*known, 0) : 0};

    if (bpf_map_update_elem(&spare_tasks, &pid, &fresh, BPF_ANY))
        count(ABI_COUNTER_LOST, 1);
    return bpf_map_lookup_elem(&spare_tasks, &pid);
}

static __always_inline void drop_spare(struct task_struct *task)
{
    __u32 pid = task->pid;

    if (control.crowded)
        bpf_map_delete_elem(&spare_tasks, &pid);
}

/* The state of a thread whose call has been seen to begin. */
static __always_inline struct abi_task *known_state(struct task_struct *task)
{
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    __u32 pid = task->pid;

    if (!state && control.crowded)
        state = bpf_map_lookup_elem(&spare_tasks, &pid);
    return state;
}

/*
 * The state that the calling thread has for itself; NULL for one that is not watched, or that can have none. With
 * config.all a thread that was there before the probe gets its state at its first call.
 */
static __always_inline struct abi_task *own_state(struct task_struct *task)
{
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    __u32 tgid, index, *known;

    if (state || !config.all)
        return state;
    state = new_state(task);
    if (!state)
        return NULL;
    tgid = task->tgid;
    known = bpf_map_lookup_elem(&by_tgid, &tgid);
    if (!known) {
        index = new_process(task->group_leader, tgid, 0);
        /* Two threads of one process may come here at once; the loser takes the winner's entry. */
        if (index && bpf_map_update_elem(&by_tgid, &tgid, &index, BPF_NOEXIST))
            drop_process(index);
        known = bpf_map_lookup_elem(&by_tgid, &tgid);
    }
    state->process = known ? *known : 0;
    return state;
}

/* The same, with one for the call alone where the thread can have none of its own. */
static __always_inline struct abi_task *current_state(struct task_struct *task)
{
    struct abi_task *state = own_state(task);

    return state || !config.all ? state : new_spare(task);
}

static __always_inline struct abi_thread *thread_at(__u32 index)
{
    return index ? bpf_map_lookup_elem(&threads, &index) : NULL;
}

/* The same for a thread's state; the key is read where it stands, which saves a place on the stack. */
static __always_inline struct abi_thread *thread_in(const struct abi_task *state)
{
    return state->thread ? bpf_map_lookup_elem(&threads, &state->thread) : NULL;
}

/* The thread's entry, made at its first call that touches storage; NULL when the table is full. */
static __always_inline struct abi_thread *thread_of(struct abi_task *state, struct task_struct *task)
{
    struct abi_thread *thread;
    __u32 index;

    if (state->thread)
        return thread_at(state->thread);
    if (!state->process || bpf_map_pop_elem(&free_threads, &index))
        return NULL;
    thread = thread_at(index);
    if (!thread)
        return NULL;
    thread->pid = task->pid;
    thread->process = state->process;
    thread->shedding = control.shed != 0;
    state->thread = index;
    return thread;
}

/*
 * Counts an operation where it belongs: in a row of the thread with that index (0: it has none), else in a shared
 * one. Global, so that the verifier looks at it once. Returns the row's index, 0 for a shared one.
 */
__noinline int record(const struct measure *m, __u32 thread_index, __u32 inherited_job)
{
    struct abi_thread *thread = thread_at(thread_index);
    struct abi_row *row;
    __u32 index = 0;

    if (!m)
        return 0;
    if (thread && has_detail(m))
        account_detail(thread, m);
    row = thread ? find_row(thread, m->op, m->volume, m->file_size, &index) : NULL;
    if (row && account_row(row, index, m))
        return index;
    count(ABI_COUNTER_OVERFLOW, m->count);
    account_shared(m, job_of(m->process, inherited_job));
    return 0;
}

#endif
