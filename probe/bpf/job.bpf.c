/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tells a process's job, noted before it is gone: the variable of its environment that names one, as its program
 * begins; the paths of cgroups, as they are made; and who moves into which.
 */
#include "probe/bpf/task.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* So many pieces of an environment are looked at: one for each variable, more for a long one. */
#define PIECES_MAX 640

struct scratch_job {
    struct room room;
    struct abi_name_key key; /* with the text, the beginning of a piece */
    char more[192];
    struct abi_ticket ticket;
    struct abi_cgroup news;
    __u32 best;
    __u32 begins; /* the piece is the beginning of a variable */
};

#define PIECE (ABI_NAME_MAX - 1 + sizeof(((struct scratch_job *)0)->more))

ROOMS(scratch_job, struct scratch_job);

static __always_inline struct abi_name *look_up(struct scratch_job *s, char kind)
{
    s->key.prefix_bits = ABI_NAME_MAX * 8;
    s->key.kind = kind;
    return bpf_map_lookup_elem(&job_names, &s->key);
}

/* The best of the variables that were asked for; no other one's value is looked at. */
static __always_inline void look_at(struct scratch_job *s, __u64 at, long length)
{
    struct abi_name *name = look_up(s, 'E');

    if (!name || name->rank >= s->best || length <= (long)name->length + 1)
        return;
    s->best = name->rank;
    s->ticket.rank = name->rank;
    __builtin_memset(s->ticket.value, 0, sizeof(s->ticket.value));
    bpf_probe_read_user_str(s->ticket.value, sizeof(s->ticket.value), (const void *)(at + name->length));
}

static __always_inline void look_around(struct scratch_job *s, struct task_struct *task)
{
    __u64 at = BPF_CORE_READ(task, mm, env_start), end = BPF_CORE_READ(task, mm, env_end);

    s->best = ABI_RANKS;
    s->begins = 1;
    for (int i = 0; i < PIECES_MAX; i++) {
        long length;

        if (at >= end)
            break;
        length = bpf_probe_read_user_str(s->key.name, PIECE, (const void *)at);
        if (length <= 0)
            break;
        if (s->begins)
            look_at(s, at, length);
        s->begins = length < (long)PIECE;
        at += length < (long)PIECE ? length : length - 1;
    }
}

/* A number for what the ticket says; 0 when there is no room, and user space has to look itself. */
static __always_inline __u32 ticket_number(const struct abi_ticket *ticket)
{
    __u32 *known = bpf_map_lookup_elem(&tickets, ticket), which = ABI_COUNTER_TICKETS, number;
    __u64 *used;

    if (known)
        return *known;
    used = bpf_map_lookup_elem(&counters, &which);
    if (!used)
        return 0;
    number = __sync_fetch_and_add(used, 1) + 1;
    number = ABI_TICKET(number & 0x7ffffff, ticket->rank) & ~ABI_TICKET_OURS;
    bpf_map_update_elem(&tickets, ticket, &number, BPF_NOEXIST);
    known = bpf_map_lookup_elem(&tickets, ticket); /* another CPU's, maybe */
    return known ? *known : 0;
}

static __always_inline struct abi_process *process_of(struct task_struct *task)
{
    __u32 tgid = task->tgid, *index = bpf_map_lookup_elem(&by_tgid, &tgid);

    return index && *index ? process_at(*index) : NULL;
}

/* A job that was found no longer holds once what it was found by is another. */
static __always_inline void lose_job(struct abi_process *process)
{
    if (process->job & ABI_JOB_FOUND)
        process->job = 0;
}

static __always_inline void set_ticket(struct abi_process *process, __u32 ticket)
{
    if (!ticket || process->ticket == ticket)
        return;
    process->ticket = ticket;
    lose_job(process);
}

static __always_inline void set_cgroup(struct abi_process *process, struct task_struct *task)
{
    __u64 cgroup = cgroup_of(task);

    if (process->cgroup == cgroup)
        return;
    process->cgroup = cgroup;
    lose_job(process);
}

/* The program is new, the process is not: what its parent was, it stays, unless its own environment says something. */
static __always_inline void begin_program(struct scratch_job *s, struct abi_process *process, struct task_struct *task)
{
    struct abi_name *launcher;

    set_cgroup(process, task);
    look_around(s, task);
    process->known = 1;
    if (s->best < ABI_RANKS) {
        __u32 ticket = ticket_number(&s->ticket);

        if (!ticket)
            process->known = 0;
        set_ticket(process, ticket);
        return;
    }
    if (process->ticket)
        return;
    __builtin_memset(s->key.name, 0, sizeof(s->key.name));
    bpf_probe_read_kernel_str(s->key.name, sizeof(task->comm), task->comm);
    launcher = look_up(s, 'C');
    if (launcher)
        set_ticket(process, ABI_TICKET(launcher->rank, ABI_RANK_LAUNCHER));
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec_job, struct task_struct *task)
{
    struct abi_process *process = process_of(task);
    struct scratch_job *s = process ? take_room(&scratch_job) : NULL;

    if (!s)
        return 0;
    begin_program(s, process, task);
    give_room(&s->room);
    return 0;
}

/* Whoever stays in the old map entry has read it: a cgroup's path does not change. */
static __always_inline void tell(__u64 key, const char *path, bool gone)
{
    struct abi_cgroup *news = bpf_map_lookup_elem(&cgroup_news, &key);
    struct scratch_job *s;

    if (news) {
        if (gone)
            news->gone = 1;
        return;
    }
    s = take_room(&scratch_job);
    if (!s)
        return;
    bpf_probe_read_kernel_str(s->news.path, sizeof(s->news.path), path);
    s->news.gone = gone;
    bpf_map_update_elem(&cgroup_news, &key, &s->news, BPF_NOEXIST);
    give_room(&s->room);
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(on_cgroup_make, struct cgroup *cgroup, const char *path)
{
    tell(cgroup_key(cgroup), path, false);
    return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_remove, struct cgroup *cgroup, const char *path)
{
    tell(cgroup_key(cgroup), path, true);
    return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_move, struct cgroup *cgroup, const char *path, struct task_struct *task)
{
    struct abi_process *process = process_of(task);

    if (process)
        set_cgroup(process, task);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
