/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a call: what it was and where it went, now that its result is known, and its account. */
#ifndef UNBLEND_PROBE_LEAVE_H
#define UNBLEND_PROBE_LEAVE_H

#include "probe/bpf/between.bpf.h"
#include "probe/bpf/quick.bpf.h"
#include "probe/bpf/received.bpf.h"
#include "probe/bpf/stat.bpf.h"

#define MAY_RESTART_FIRST (-516) /* -ERESTART_RESTARTBLOCK */
#define MAY_RESTART_LAST  (-512) /* -ERESTARTSYS */
#define SIGKILL           9

/* The kernel may make an interrupted call again. */
static __always_inline bool may_restart(long result)
{
    return result >= MAY_RESTART_FIRST && result <= MAY_RESTART_LAST;
}

/* A call that ends so because its thread is ended does not return: kill -9, the exit or exec of another thread. */
static __always_inline bool is_cut_short(struct task_struct *task, long result)
{
    return result == -EINTR && BPF_CORE_READ(task, pending.signal.sig[0]) >> (SIGKILL - 1) & 1;
}

/* An open tells the size of a regular file; a link, a symlink or a node made has none. */
static __always_inline void opened(struct abi_task *state, struct abi_thread *thread, struct measure *m)
{
    struct inode *inode = (struct inode *)state->inode;
    __u32 type = LOAD(inode, i_mode) & S_IFMT;
    struct abi_file *mine = place_of(state, thread);

    if (type == S_IFREG || type == S_IFBLK)
        begin_position(state, mine);
    if (mine) { /* the file that was at this address before may have been another */
        mine->written = is_written((struct file *)state->file);
        settle(mine, mine->volume, file_size_of(inode));
    }
    m->sized = type == S_IFREG;
    m->size = LOAD(inode, i_size);
    if (m->sized)
        tell_file(as_number(&state->inode), state->volume, (__u64)state->process << 32 | state->job, m->end_ns,
                  mine && config.tree_depth ? mine->tree : 0);
}

/* The operation and the volume of a call that is not by descriptor. */
static __always_inline void resolve_after(const volatile struct abi_syscall *shape, struct pt_regs *regs,
                                          bool compat, long result, struct task_struct *task, struct abi_task *state,
                                          struct abi_thread *thread, struct measure *m)
{
    int directory = directory_argument(shape, regs, compat);
    __u64 path = argument_in(regs, compat, shape->path);

    switch (shape->shape) {
    case ABI_SHAPE_STAT:
    case ABI_SHAPE_STATX:
        state->volume = ABI_VOLUME_UNKNOWN;
        if (result == 0)
            state->volume = volume_of_stat(shape->shape == ABI_SHAPE_STATX ? LAYOUT_STATX : shape->layout, thread,
                                           (const void *)argument_in(regs, compat, shape->third), &m->file_size);
        if (state->volume == ABI_VOLUME_UNKNOWN)
            state->volume = volume_of_path(directory, path);
        break;
    case ABI_SHAPE_PATH:
        state->volume = volume_of_path(directory, path);
        break;
    case ABI_SHAPE_OPEN:
    case ABI_SHAPE_OPEN_HOW:
        if (result >= 0)
            state->volume = resolve_descriptor(state, task, (int)result);
        if (!state->file)
            state->volume = shape->path < 0 ? volume_of_directory(task, directory)
                                            : volume_of_path(directory, path);
        m->op = makes_a_file(shape, regs, compat, (struct file *)state->file) ? OP_CREATE : OP_OPEN;
        if (state->file && state->volume != ABI_VOLUME_NONE)
            opened(state, thread, m);
        break;
    }
}

/* How large the file is that a call has asked about by descriptor, if it succeeded. */
static __always_inline __u32 file_size_asked(struct task_struct *task, struct pt_regs *regs, bool compat, long result)
{
    struct opened opened;

    if (result < 0 || !look_up(task, (int)argument_in(regs, compat, 0), &opened))
        return ABI_FILE_NO_SIZE;
    return file_size_of(opened.inode);
}

/* Whether the call has added pages to the page cache. */
static __always_inline bool added_pages(const struct abi_task *state, const struct abi_thread *thread)
{
    return thread ? thread->missed : state->missed_ns == state->enter_ns;
}

/* Every call. Not inlined, for the stack's sake: see enter_any(). */
static __noinline int leave_any(struct pt_regs *regs, long result, __u64 now)
{
    long number = number_of(regs);
    const volatile struct abi_syscall *shape = shape_of(number);
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = known_state(task);
    struct measure m = {.count = 1};
    bool compat = is_compat(task);
    struct abi_file *mine = NULL;
    struct abi_thread *thread;
    bool between;
    __u32 row;

    if (!shape || !state)
        return 0;
    shape = shape_for(shape, compat);
    if (!shape)
        return 0;
    between = shape->shape == ABI_SHAPE_TRANSFER;
    know_user(state->process, task);
    thread = thread_in(state);
    if (thread) {
        complete_state(state, thread);
        thread->quick = thread->pending_op = 0;
    }
    m.op = shape->op;
    m.error_code = result < 0 ? -result : 0;
    m.process = state->process;
    m.latency_ns = now - state->enter_ns;
    m.end_ns = now;
    if (shape->shape != ABI_SHAPE_FD)
        resolve_after(shape, regs, compat, result, task, state, thread, &m);
    if (may_restart(result) || is_cut_short(task, result)) {
        state->restart_op = m.op;
        state->exit_ns = now;
        state->pending = mark_of(number, compat);
        if (thread) {
            thread->pending_op = m.op;
            thread->quick = ABI_NOT_QUICK;
        }
        return 0;
    }
    if (shape->shape == ABI_SHAPE_CLOSE_RANGE) {
        record_ranges(state, result, m.latency_ns);
        return 0;
    }
    if (m.op == OP_STAT && shape->shape == ABI_SHAPE_FD)
        m.file_size = file_size_asked(task, regs, compat, result);
    if (m.op == OP_STAT)
        m.order = m.file_size | (is_of_open(shape, regs, compat) ? ABI_OF_OPEN : 0);
    if (operation_tells_file_size(m.op) && result >= 0 && thread && (state->place > ABI_BY_PATH || place_of(state, thread)))
        m.order = kind_at(thread, state->place);
    if (m.op <= OP_WRITE && result >= 0) {
        m.sized = true;
        m.bytes = m.size = result;
    }
    if (m.op <= OP_WRITE && state->file && state->volume != ABI_VOLUME_NONE) {
        mine = place_of(state, thread);
        if (result > 0 && !control.no_order)
            m.order = between ? order_read(shape, regs, compat, result, task, state, thread)
                              : order_of(mine, start_of(shape, regs, compat, state->file, result), result);
        if (mine && m.order && !mine->uncached)
            m.cache = added_pages(state, thread) ? ABI_CACHE_MISS : ABI_CACHE_HIT;
        if (m.op == OP_READ) {
            m.file_size = file_size_of((struct inode *)(mine ? mine->inode : state->inode));
            if (mine)
                settle(mine, mine->volume, m.file_size); /* it may have grown */
        }
    }
    m.volume = state->volume;
    if (config.tree_depth && thread) {
        thread->pending_volume = m.volume;
        thread->pending_ns = m.latency_ns;
    }
    if (m.op == OP_WRITE && result > 0 && thread && thread->receiving && m.volume != ABI_VOLUME_NONE)
        account_received(state->thread, m.volume, result);
    row = m.volume == ABI_VOLUME_NONE ? 0 : record(&m, state->thread, state->job);
    if (mine && !between)
        mine->row[m.op == OP_WRITE] = row;
    if (state->volume2 != ABI_VOLUME_NONE) {
        m.op = OP_WRITE;
        m.volume = state->volume2;
        m.order = order_written(shape, regs, compat, result, task, state, thread);
        record(&m, state->thread, state->job);
    }
    return 0;
}

/* Whether a call that nothing says is in flight may be one of libaio's, of which the thread's memory says nothing. */
static __always_inline bool is_special(const volatile struct abi_syscall *shape)
{
    return shape->compat || shape->op == ABI_OP_ASYNC;
}

/* The end of one of libaio's calls, or of one that does not count. Not inlined, for the stack's sake. */
static __noinline int leave_special(struct pt_regs *regs, long result)
{
    long number = number_of(regs);
    const volatile struct abi_syscall *shape = shape_of(number);
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = known_state(task);
    bool compat = is_compat(task);

    if (!shape || !state)
        return 0;
    shape = shape_for(shape, compat);
    if (!shape || shape->shape != ABI_SHAPE_AIO)
        return 0;
    return aio_leave(aio_call(shape, compat), argument_in(regs, compat, 0), argument_in(regs, compat, 1),
                     aio_address(shape, regs, compat), result);
}

/*
 * A signal's handler has ended, of whose own call, rt_sigreturn(), the registers say nothing any more: they are what they
 * were before the signal. There an interrupted call has failed, so the next one is another, like it as it may be; one that
 * the kernel makes again has its number there. Not inlined, for the stack's sake.
 */
static __noinline int leave_handler(void)
{
    struct abi_task *state = known_state(bpf_get_current_task_btf());

    if (state && state->restart_op)
        settle_restart(state);
    return 0;
}

/* Not inlined, for the stack's sake. */
static __noinline struct abi_task *spare_state(void)
{
    return known_state(bpf_get_current_task_btf());
}

/*
 * Whether a call that did not begin as a quick one is to be looked at closely now; else it has been dealt with, or is
 * nobody's.
 */
static __always_inline bool take_slow_call(struct pt_regs *regs, long result)
{
    long number = number_of(regs);
    const volatile struct abi_syscall *shape = shape_of(number);
    struct abi_task *state = spare_state();

    if (!shape || !state)
        return false;
    if (state->pending != mark_of(number, false) && state->pending != mark_of(number, true)) {
        if (is_special(shape))
            leave_special(regs, result);
        return false;
    }
    if (state->restart_op)
        return false;
    state->pending = 0;
    return state->enter_ns >= control.since_ns;
}

#endif
