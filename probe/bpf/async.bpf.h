/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations that their program does not wait for. Each is noted at its submission, under the process that
 * submitted it, and accounted by whoever sees it completed: a thread of that process, or one that the kernel has made
 * for it (they are threads of the process, too, though no fork tells of them). Its row is that thread's, so
 * rows keep their one writer.
 */
#ifndef UNBLEND_PROBE_ASYNC_H
#define UNBLEND_PROBE_ASYNC_H

#include "probe/bpf/order.bpf.h"
#include "probe/bpf/tree.bpf.h"
#include "probe/bpf/uringtypes.bpf.h"
#include "probe/bpf/volume.bpf.h"

#include <bpf/bpf_core_read.h>

#define VECTOR_MAX 8

/* The calling thread's own state; one that the kernel made for a watched process is watched from here on. */
static __always_inline struct abi_task *acting_state(struct task_struct *task)
{
    struct abi_task *state = own_state(task), *leader;

    if (state)
        return state;
    leader = bpf_task_storage_get(&tasks, task->group_leader, NULL, 0);
    if (!leader)
        return NULL;
    state = new_state(task);
    if (!state)
        return NULL;
    state->process = leader->process;
    state->job = leader->job;
    if (!state->process && state->job)
        count(ABI_COUNTER_HOMELESS, 1); /* no fork has */
    return state;
}

/*
 * Kernels that preempt programs on tracepoints skip one that is still busy for somebody else. There a second one follows
 * it, and does what the first has not: true when there is nothing left to do. place: what it is about, and where in
 * it, so that no two events of one thread that follow each other are alike.
 */
static __always_inline bool is_done(struct abi_task *state, __u64 place, __u32 position, bool again)
{
    __u64 both = place + ((__u64)position << 32);
    __u32 event = (__u32)(both ^ both >> 32);

    if (!config.twice || !state)
        return false;
    if (again && state->event == event)
        return true;
    if (again)
        count(ABI_COUNTER_RECOVERED, 1);
    state->event = event;
    return false;
}

/* For whom the calling thread acts, to its very end. */
static __always_inline __u32 acting_job(const struct abi_task *state)
{
    return state->ended ? state->job : job_of(state->process, state->job);
}

/* What is left of such a process at its end is looked for by its tgid. */
static __always_inline void join_users(struct abi_task *state, __u32 tgid, enum abi_async_user user)
{
    __u32 uses = user, *known;

    if (state->async >= uses)
        return;
    known = bpf_map_lookup_elem(&async_users, &tgid);
    if (known && *known > uses)
        uses = *known;
    bpf_map_update_elem(&async_users, &tgid, &uses, BPF_ANY);
    state->async = uses;
}

/*
 * Order is that of submission: completions come as they like. The end of what precedes is where it would be if all that
 * was asked for were transferred.
 */
static __always_inline __u32 order_asked(struct file *file, __u64 start, __u64 bytes)
{
    struct abi_position *last, fresh = {.inode = (__u64)BPF_CORE_READ(file, f_inode)};
    __u64 address = (__u64)file;
    __u32 order;

    if (!bytes)
        return ABI_ORDER_UNKNOWN;
    last = bpf_map_lookup_elem(&positions, &address);
    if (!last || last->inode != fresh.inode) {
        bool seeded = last && last->inode == (fresh.inode | ABI_SEEDED);

        order = judge(&fresh.end, start, bytes);
        bpf_map_update_elem(&positions, &address, &fresh, BPF_ANY);
        return seeded ? ABI_ORDER_UNKNOWN : order;
    }
    if (last->owner)
        disown(last, address);
    last->owner = 0;
    return judge(&last->end, start, bytes);
}

/* The bytes of a vector's pieces; 0 when they are too many to be read. */
static __always_inline __u64 bytes_asked(__u64 vector, __u64 pieces)
{
    __u64 bytes = 0;

    if (pieces > VECTOR_MAX)
        return 0;
    for (__u32 i = 0; i < VECTOR_MAX; i++) {
        __u64 piece[2] = {};

        if (i < pieces && bpf_probe_read_user(piece, sizeof(piece), (const void *)(vector + i * sizeof(piece))))
            return 0;
        bytes += piece[1];
    }
    return bytes;
}

/* Submitted before a time when nothing was watched: nobody knows when it ended. */
static __always_inline bool is_stale(const struct abi_async *entry)
{
    return entry->start_ns < control.since_ns;
}

/* Notes a request; the caller fills in what it is, op last. It is not completed before that. NULL: no room. */
static __always_inline struct abi_async *note(const struct abi_async_key *key, struct abi_task *state,
                                              struct task_struct *task)
{
    struct abi_async *entry;
    __u32 zero = 0;
    void *empty = bpf_map_lookup_elem(&empty_row, &zero); /* larger, and as empty */

    if (!empty)
        return NULL;
    /* No room, or a request of the same name whose end was missed. */
    if (bpf_map_update_elem(&async, key, empty, BPF_NOEXIST)) {
        entry = bpf_map_lookup_elem(&async, key);
        if (!entry || !is_stale(entry))
            count(ABI_COUNTER_LOST, 1);
        bpf_map_update_elem(&async, key, empty, BPF_ANY);
    }
    entry = bpf_map_lookup_elem(&async, key);
    if (!entry)
        return NULL;
    entry->process = state->process;
    entry->job = job_of(state->process, state->job);
    entry->tgid = task->tgid;
    return entry;
}

/* Whoever gets true accounts it; two may have seen it completed at once. */
static __always_inline bool take(struct abi_async *entry)
{
    return __sync_val_compare_and_swap(&entry->taken, 0, 1) == 0;
}

/* The row's thread for one that has been taken, its measure completed; 0 when it has none. */
static __always_inline __u32 place(const struct abi_async *entry, struct measure *m, __u64 now)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = acting_state(task);

    m->count = 1;
    m->end_ns = entry->done_ns ? entry->done_ns : now;
    m->latency_ns = m->end_ns - entry->start_ns;
    if (!state || !entry->process || state->process != entry->process || entry->tgid != (__u32)task->tgid)
        return 0;
    m->process = entry->process;
    thread_of(state, task);
    return state->thread;
}

/* The same operation in its tree, which it was found to be in when it was submitted. */
static __always_inline void count_measured(__u32 tree, const struct measure *m)
{
    if (config.tree_depth && m->volume != ABI_VOLUME_NONE)
        count_in_tree(tree, m->op, m->bytes, m->latency_ns);
}

static __always_inline void account_async(const struct abi_async *entry, struct measure *m, __u64 now)
{
    if (m->volume != ABI_VOLUME_NONE)
        record(m, place(entry, m, now), entry->job);
}

/* Of a request on an open file. */
static __always_inline __u32 tree_asked(struct file *file, __u64 volume, __u32 process)
{
    return config.tree_depth ? tree_of_file((__u64)file, volume, process) : 0;
}

/* The open file that a request is on, of that volume; there may be none. */
static __always_inline void note_file(struct abi_async *entry, struct file *file, __u64 volume)
{
    entry->volume = volume;
    if (volume == ABI_VOLUME_NONE)
        return;
    entry->tree = tree_asked(file, volume, entry->process);
    entry->file_size = file_size_of(BPF_CORE_READ(file, f_inode));
}

/* A read, a write, or an operation without bytes. */
static __always_inline void measure_result(struct measure *m, const struct abi_async *entry, __u32 op, __u64 volume,
                                           long result)
{
    bool sized = result >= 0 && (op == OP_READ || op == OP_WRITE);

    m->op = op;
    m->process = 0;
    m->volume = volume;
    m->bytes = m->size = sized ? result : 0;
    m->order = (sized && result) || op == OP_STAT ? entry->order : ABI_ORDER_UNKNOWN;
    m->error_code = result < 0 ? -result : 0;
    m->file_size = entry->file_size;
    m->sized = sized;
}

static __always_inline void account_result(const struct abi_async *entry, __u32 op, __u64 volume,
                                           long result, __u64 now)
{
    struct measure m = {};

    measure_result(&m, entry, op, volume, result);
    account_async(entry, &m, now);
    count_measured(op == OP_WRITE && entry->volume2 ? entry->tree2 : entry->tree, &m);
}

struct removal {
    __u64 now;
    __u32 tgid;
};

static long remove_of_process(void *map, const struct abi_async_key *key, struct abi_async *entry,
                              struct removal *removal)
{
    if (entry->tgid != removal->tgid)
        return 0;
    if (entry->volume != ABI_VOLUME_NONE && take(entry) && !is_stale(entry)) {
        if (entry->silent && is_request(key->request, entry->ring, entry->tag))
            account_result(entry, entry->op, entry->volume, result_of_request(key->request), removal->now);
        else
            count(entry->silent ? ABI_COUNTER_LOST : ABI_COUNTER_KILLED, 1);
    }
    bpf_map_delete_elem(map, key);
    return 0;
}

/* What was under way when its process came to its end; or had ended, and nobody was to be told. */
static __always_inline void remove_process(__u32 tgid)
{
    struct removal removal = {.tgid = tgid, .now = bpf_ktime_get_ns()};

    bpf_for_each_map_elem(&async, remove_of_process, &removal, 0);
}

#endif
