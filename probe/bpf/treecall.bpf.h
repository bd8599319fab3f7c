/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Once more a call that has been counted: now in its tree. Only where somebody asks for trees. */
#ifndef UNBLEND_PROBE_TREECALL_H
#define UNBLEND_PROBE_TREECALL_H

#include "probe/bpf/leave.bpf.h"

/* An operation on an open file, which the thread's memory has, but for the thread's first call. */
static __always_inline void count_file(const struct abi_task *state, struct abi_thread *thread, int fd, __u32 op,
                                       __u64 bytes, __u64 latency_ns)
{
    struct abi_file *mine = file_at(thread, (__u32)fd);

    if (!mine->file) {
        count_in_tree(state->tree, op, bytes, latency_ns);
        return;
    }
    if (count_in_tree(mine->tree, op, bytes, latency_ns))
        return;
    /* Its number was taken back, as nobody used it for long; of a file that is closed nobody can tell any more. */
    mine->tree = op == OP_CLOSE ? 0 : tree_of_file(mine->file, mine->volume, thread->process);
    count_in_tree(mine->tree, op, bytes, latency_ns);
}

/* The writing side of a transfer; there may have been room for the file that is read only. */
static __always_inline void count_target(const struct abi_task *state, struct abi_thread *thread,
                                         struct task_struct *task, int fd, int other, __u64 bytes, __u64 latency_ns)
{
    struct file *file;

    if (file_at(thread, (__u32)fd)->file && (fd == other || (fd ^ other) & (ABI_FILE_CACHE - 1))) {
        count_file(state, thread, fd, OP_WRITE, bytes, latency_ns);
        return;
    }
    file = file_of(task, fd);
    if (file)
        count_in_tree(tree_of_file((__u64)file, state->volume2, thread->process), OP_WRITE, bytes, latency_ns);
}

/* Whether the calling thread is in a call that counts when it ends. Global, as it is called at each end. */
__noinline int is_in_call(void)
{
    struct abi_task *state = known_state(bpf_get_current_task_btf());
    struct abi_thread *thread = state ? thread_in(state) : NULL;

    return thread && thread->pending_op && thread->pending_ns >= control.since_ns;
}

/* The call that the thread was in; one that may begin again has not ended. Not inlined, for the stack's sake: see
   enter_any(). */
static __noinline int count_tree(struct pt_regs *regs, long result)
{
    long number = number_of(regs);
    const volatile struct abi_syscall *shape = shape_of(number);
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = known_state(task);
    struct abi_thread *thread;
    bool compat = is_compat(task);
    __u64 latency_ns, bytes = result > 0 ? result : 0;
    __u32 op;

    if (!shape || !state)
        return 0;
    shape = shape_for(shape, compat);
    thread = thread_in(state);
    if (!shape || !thread || thread->pending_op)
        return 0;
    latency_ns = thread->pending_ns;
    op = shape->op;
    switch (shape->shape) {
    case ABI_SHAPE_FD:
        count_file(state, thread, (int)argument_in(regs, compat, 0), op, bytes, latency_ns);
        return 0;
    case ABI_SHAPE_TRANSFER:
        if (state->volume != ABI_VOLUME_NONE)
            count_file(state, thread, (int)argument_in(regs, compat, shape->fd), OP_READ, bytes, latency_ns);
        if (state->volume2 != ABI_VOLUME_NONE)
            count_target(state, thread, task, (int)argument_in(regs, compat, shape->path),
                         (int)argument_in(regs, compat, shape->fd), bytes, latency_ns);
        return 0;
    case ABI_SHAPE_OPEN:
    case ABI_SHAPE_OPEN_HOW:
        if (result >= 0) {
            count_file(state, thread, (int)result, OP_OPEN, 0, latency_ns);
            return 0;
        }
        break;
    case ABI_SHAPE_PATH:
    case ABI_SHAPE_STAT:
    case ABI_SHAPE_STATX:
        break;
    default:
        return 0;
    }
    if (is_metadata(op))
        count_in_tree(tree_of_path(directory_argument(shape, regs, compat), argument_in(regs, compat, shape->path),
                                   thread->pending_volume, thread->process),
                      op, 0, latency_ns);
    return 0;
}

#endif
