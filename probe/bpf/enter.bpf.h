/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The start of a call: where it goes, as far as that must be known before it runs, and the clock. */
#ifndef UNBLEND_PROBE_ENTER_H
#define UNBLEND_PROBE_ENTER_H

#include "probe/bpf/aio.bpf.h"
#include "probe/bpf/range.bpf.h"
#include "probe/bpf/place.bpf.h"
#include "probe/bpf/running.bpf.h"
#include "probe/bpf/shape.bpf.h"

#define EINTR        4
#define F_SETFL      4
#define CLOEXEC_ONLY 4 /* CLOSE_RANGE_CLOEXEC */

/* enum abi_aio_call and the address in its arguments. */
static __always_inline __u32 aio_call(const volatile struct abi_syscall *shape, bool compat)
{
    return shape->fd | (compat ? AIO_COMPAT : 0);
}

static __always_inline __u64 aio_address(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat)
{
    return shape->path < 0 ? 0 : argument_in(regs, compat, shape->path);
}

/* An interrupted call did not begin again, so its program has seen EINTR: it counts as failed. */
static __always_inline void settle_restart(struct abi_task *state)
{
    struct measure m = {
        .op = state->restart_op,
        .process = state->process,
        .volume = state->volume,
        .latency_ns = state->exit_ns - state->enter_ns,
        .end_ns = state->exit_ns,
        .count = 1,
        .error_code = EINTR,
    };

    if (m.volume != ABI_VOLUME_NONE)
        record(&m, state->thread, state->job);
    if (state->volume2 != ABI_VOLUME_NONE) {
        m.op = OP_WRITE;
        m.volume = state->volume2;
        record(&m, state->thread, state->job);
    }
    state->restart_op = 0;
    state->pending = 0;
}

/* A pipe or a socket, by which a signal's handler tells the others that it was called. */
static __always_inline bool is_of_no_storage(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat,
                                             struct task_struct *task)
{
    struct opened opened;
    struct inode *inode;
    __u32 type;

    if (shape->shape != ABI_SHAPE_FD || !look_up(task, (int)argument_in(regs, compat, 0), &opened))
        return false;
    inode = opened.inode;
    type = LOAD(inode, i_mode) & S_IFMT;
    return type == S_IFIFO || type == S_IFSOCK;
}

/* False when the call touches no storage. */
static __always_inline bool resolve_before(const volatile struct abi_syscall *shape, struct pt_regs *regs,
                                           bool compat, struct task_struct *task, struct abi_task *state)
{
    state->volume2 = ABI_VOLUME_NONE;
    if (shape->shape == ABI_SHAPE_FD) {
        state->volume = resolve_descriptor(state, task, (int)argument_in(regs, compat, 0));
        return state->volume != ABI_VOLUME_NONE;
    }
    switch (shape->shape) {
    case ABI_SHAPE_TRANSFER:
        state->volume2 = resolve_descriptor(state, task, (int)argument_in(regs, compat, shape->path));
        state->volume = resolve_descriptor(state, task, (int)argument_in(regs, compat, shape->fd));
        return state->volume || state->volume2;
    case ABI_SHAPE_FCNTL:
        if (argument_in(regs, compat, 1) == F_SETFL)
            forget_file(state, (int)argument_in(regs, compat, 0)); /* it may turn O_DIRECT */
        return false;
    case ABI_SHAPE_CLOSE_RANGE:
        if (argument_in(regs, compat, 2) & CLOEXEC_ONLY)
            return false;
        remember_range(state, (__u32)argument_in(regs, compat, 0), (__u32)argument_in(regs, compat, 1));
        return state->ranges[0].count;
    }
    state->file = 0;
    state->volume = ABI_VOLUME_UNKNOWN; /* paths are resolved afterwards, when the kernel has read them */
    return true;
}

/* Sets the clock of a call that counts. */
static __always_inline void begin(const volatile struct abi_syscall *shape, __u32 mark, struct abi_task *state,
                                  struct abi_thread *thread)
{
    state->pending = mark;
    if (thread) {
        thread->quick = ABI_NOT_QUICK;
        thread->missed = 0;
        thread->pending_volume = state->volume ? state->volume : state->volume2;
        thread->pending_op = shape->op;
    }
    state->enter_ns = bpf_ktime_get_ns();
    if (thread)
        thread->pending_ns = state->enter_ns;
}

/* The same of one that can be counted by what stands in the thread's memory. */
static __always_inline void begin_quick(struct pt_regs *regs, struct abi_thread *thread, __u32 op, __u32 place,
                                        __u64 volume)
{
    thread->quick_place = place;
    thread->pending_volume = volume;
    thread->pending_op = op;
    thread->missed = 0;
    thread->quick = mark_of(number_of(regs), false);
    thread->pending_ns = bpf_ktime_get_ns();
}

/* Whether operations of that kind are not watched for now. */
static __always_inline bool is_shed(__u32 op)
{
    return control.shed >> op & 1;
}

/*
 * Every call. Not inlined, so that the quick way below needs less than 64 bytes of stack: where it needs more, newer
 * kernels give the program a stack of its own, at a price at each helper.
 */
static __noinline int enter_any(struct pt_regs *regs)
{
    long number = number_of(regs);
    const volatile struct abi_syscall *shape = shape_of(number);
    struct task_struct *task = bpf_get_current_task_btf();
    bool compat = is_compat(task);
    struct abi_thread *thread;
    struct abi_task *state;
    __u32 mark = mark_of(number, compat);

    if (!shape)
        return 0;
    if (compat && !config.has_compat) {
        if (known_state(task))
            count(ABI_COUNTER_COMPAT, 1);
        return 0;
    }
    shape = shape_for(shape, compat);
    if (!shape || is_shed(shape->op))
        return 0;
    state = current_state(task);
    if (!state)
        return 0;
    if (state->restart_op) {
        if (state->pending == mark) {
            state->restart_op = 0;
            return 0; /* the same call again: its clock runs on, and it is in flight as before */
        }
        if (is_of_no_storage(shape, regs, compat, task))
            return 0;
        settle_restart(state);
    }
    thread = thread_in(state);
    if (thread)
        thread->quick = 0;
    if (shape->shape == ABI_SHAPE_AIO)
        return aio_enter(aio_call(shape, compat), argument_in(regs, compat, 0), argument_in(regs, compat, 1),
                         aio_address(shape, regs, compat));
    if (!resolve_before(shape, regs, compat, task, state))
        return 0;
    thread = thread_of(state, task);
    begin(shape, mark, state, thread);
    return 0;
}

/* The calling thread, which is not in its place; NULL when it has no entry. known: it has a state. */
static __always_inline struct abi_thread *next_thread(struct pt_regs *regs, bool *known)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);

    *known = state;
    return state ? run_thread(state, task, regs) : NULL;
}

/* Whether a descriptor is of what the thread has used before and is no storage: who receives answers, mostly. */
static __always_inline bool is_known_as_none(struct abi_thread *thread, __u32 fd)
{
    struct abi_file *mine = file_at(thread, fd);
    struct opened opened;

    return mine->volume == ABI_VOLUME_NONE && look_up(task_of(thread), fd, &opened) &&
           holds(mine, (__u64)opened.file, (__u64)opened.inode, (__u64)opened.super);
}

/*
 * Most calls: by a thread that is known, on a file that it has used before or by path.
 *
 * It lies in memory as it is written here (-disable-block-placement). So what a transfer needs stands first and without a
 * jump, its end included, and all that is rarer behind it; so in leave().
 */
static __always_inline int enter(struct pt_regs *regs)
{
    long number = number_of(regs);
    const volatile struct abi_syscall *shape;
    __u32 op, kind, fd, place;
    struct abi_thread *thread;
    struct fdtable *table;
    struct abi_file *mine;
    struct opened opened;
    __u64 volume;
    bool known;

    if ((__u64)number >= ABI_SYSCALLS)
        return 0;
    shape = entry_of(number);
    op = shape->op;
    if (!op)
        goto other;
    thread = running_thread(regs);
    if (!thread)
        goto stranger;
familiar:
    if (thread->quick)
        goto any;
    if (!is_plainly_64_bit(regs))
        goto doubtful;
plain:
    if (thread->unusual)
        goto unusual;
watched:
    kind = shape->shape;
    if (kind != ABI_SHAPE_FD)
        goto by_path;
by_descriptor:
    fd = (__u32)argument_of(regs, 0);
    table = task_of(thread)->files->fdt;
    if (fd >= FDS_MIN)
        goto high;
in_table:
    if (!look_in(table, fd, &opened))
        return 0;
    place = fd % ABI_FILE_CACHE;
    mine = &thread->files[place];
    barrier_var(mine);
    if (!holds(mine, (__u64)opened.file, (__u64)opened.inode, (__u64)opened.super))
        goto elsewhere;
    volume = mine->volume;
    if (volume == ABI_VOLUME_NONE)
        return 0;
begin:
    begin_quick(regs, thread, op, place, volume);
    END_HERE();
    return 0;

by_path:
    if (is_by_descriptor(shape, regs))
        goto by_descriptor;
    if (kind < ABI_SHAPE_BY_PATH)
        goto any;
    begin_quick(regs, thread, op, ABI_BY_PATH, ABI_VOLUME_UNKNOWN);
    END_HERE();
    return 0;
any:
    if (is_fcntl(shape) && argument_of(regs, 1) != F_SETFL)
        return 0;
    return enter_any(regs);
high:
    if (fd < table->max_fds)
        goto in_table;
    return 0;
elsewhere: /* one that is only looked at or closed takes no place */
    if (op <= OP_WRITE || !is_where_last(thread, &opened))
        goto any;
    volume = thread->device;
    if (op == OP_STAT)
        place = ABI_ELSEWHERE(file_size_of(opened.inode));
    else if (operation_tells_file_size(op))
        place = ABI_ELSEWHERE(kind_of_opened(&opened));
    goto begin;
other:
    if (!shape->compat || !is_compat(bpf_get_current_task_btf()))
        return 0;
    goto any;
stranger:
    thread = next_thread(regs, &known);
    if (thread)
        goto familiar;
    if (known || config.all)
        goto any;
    return 0;
doubtful:
    if (is_compat(task_of(thread)))
        goto any;
    goto plain;
unusual:
    if (is_shed(op))
        return 0;
    if (!thread->receiving || op != OP_WRITE)
        goto watched;
    if (shape->shape == ABI_SHAPE_FD && is_known_as_none(thread, (__u32)argument_of(regs, 0)))
        return 0;
    goto any;
}

#endif
