/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: from sys_enter, where the clock starts, to sys_exit, where the operation is counted. */
#include "probe/bpf/aio.bpf.h"
#include "probe/bpf/call.bpf.h"
#include "probe/bpf/life.bpf.h"
#include "probe/bpf/order.bpf.h"
#include "probe/bpf/range.bpf.h"
#include "probe/bpf/stat.bpf.h"
#include "probe/bpf/volume.bpf.h"

#include <bpf/bpf_tracing.h>

#define MAY_RESTART_FIRST (-516) /* -ERESTART_RESTARTBLOCK */
#define MAY_RESTART_LAST  (-512) /* -ERESTARTSYS */

#define O_TMPFILE_BIT  020000000
#define FMODE_CREATED  0x100000
#define CLOEXEC_ONLY   4 /* CLOSE_RANGE_CLOEXEC */

static __always_inline void record_result(const struct abi_task *state, __u32 op, __u64 volume,
                                          long result, __u64 latency_ns, __u64 offset)
{
    struct measure m = {
        .op = op,
        .process = state->process,
        .volume = volume,
        .latency_ns = latency_ns,
        .count = 1,
        .error = result < 0,
        .sized = result >= 0 && (op == OP_READ || op == OP_WRITE),
    };

    if (volume == ABI_VOLUME_NONE)
        return;
    if (m.sized)
        m.bytes = m.size = result;
    if (m.sized && result && state->file && !control.no_order)
        m.order = order_of(state, offset, result);
    record(&m, state->thread, state->job);
}

/* --- at the start of a call --- */

/* An interrupted call did not begin again, so its program has seen EINTR: it counts as failed. */
static __always_inline void settle_restart(struct abi_task *state)
{
    __u64 latency_ns = state->exit_ns - state->enter_ns;

    record_result(state, state->restart_op, state->volume, -1, latency_ns, 0);
    if (state->volume2)
        record_result(state, OP_WRITE, state->volume2, -1, latency_ns, 0);
    state->restart_op = 0;
    state->pending = 0;
}

/* False when the file is no storage, or there is none. */
static __always_inline bool resolve_file(struct abi_task *state, struct abi_thread *thread,
                                         struct file *file)
{
    struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;

    state->file = (__u64)file;
    state->inode = (__u64)inode;
    state->volume = file ? volume_of_known_file(thread, file, inode) : ABI_VOLUME_NONE;
    return state->volume;
}

/* Where the call goes, as far as it must be known before it runs; false when it touches no storage. */
static __always_inline bool resolve_before(const volatile struct abi_syscall *shape,
                                           const __u64 argument[6], struct task_struct *task,
                                           struct abi_task *state, struct abi_thread *thread)
{
    struct file *file;

    state->volume2 = ABI_VOLUME_NONE;
    state->file = 0;
    switch (shape->shape) {
    case ABI_SHAPE_TRANSFER:
        state->volume2 = volume_of_fd(task, thread, (int)pick(argument, shape->path));
        state->volume = volume_of_fd(task, thread, (int)pick(argument, shape->fd));
        return state->volume || state->volume2;
    case ABI_SHAPE_FD:
        file = file_of(task, (int)pick(argument, shape->fd));
        return resolve_file(state, thread, file);
    case ABI_SHAPE_CLOSE_RANGE:
        if (argument[2] & CLOEXEC_ONLY)
            return false;
        remember_range(state, (__u32)argument[0], (__u32)argument[1]);
        return state->ranges[0].count;
    }
    state->volume = ABI_VOLUME_UNKNOWN; /* paths are resolved afterwards, when the kernel has read them */
    return true;
}

/* NULL for a call that is not counted. */
static __always_inline const volatile struct abi_syscall *shape_of(long number)
{
    const volatile struct abi_syscall *shape;

    if ((__u64)number >= ABI_SYSCALLS)
        return NULL;
    shape = &config.syscalls[number];
    /* Checked once and kept: clang would make it again from the number, whose bounds Linux 6.12 forgets. */
    barrier_var(shape);
    return shape->op || shape->compat ? shape : NULL;
}

/* The entry of a call by a 32-bit program, or else of the 64-bit one; NULL when that one is not counted. */
static __always_inline const volatile struct abi_syscall *
shape_for(const volatile struct abi_syscall *shape, bool compat)
{
    if (compat)
        shape += ABI_SYSCALLS;
    return shape->op ? shape : NULL;
}

/* enum abi_aio_call and its arguments: the context, a number, an address. */
static __always_inline __u32 aio_call(const volatile struct abi_syscall *shape, bool compat)
{
    return shape->fd | (compat ? AIO_COMPAT : 0);
}

static __always_inline __u64 aio_address(const volatile struct abi_syscall *shape, const __u64 argument[6])
{
    return shape->path < 0 ? 0 : pick(argument, shape->path);
}

static __always_inline int enter(struct pt_regs *regs, long number)
{
    const volatile struct abi_syscall *shape = shape_of(number);
    struct task_struct *task;
    struct abi_thread *thread;
    struct abi_task *state;
    __u64 argument[6];
    bool compat;

    if (!shape)
        return 0;
    task = bpf_get_current_task_btf();
    compat = is_compat(task);
    if (compat && !config.has_compat) {
        if (known_state(task))
            count(ABI_COUNTER_COMPAT, 1);
        return 0;
    }
    shape = shape_for(shape, compat);
    if (!shape || control.shed >> shape->op & 1)
        return 0;
    state = current_state(task);
    if (!state)
        return 0;
    thread = thread_at(state->thread);
    if (state->restart_op) {
        if (state->pending == number + 1) {
            state->restart_op = 0;
            return 0; /* the same call again: its clock runs on */
        }
        settle_restart(state);
    }
    read_arguments(shape, regs, compat, argument);
    if (shape->shape == ABI_SHAPE_AIO)
        return aio_enter(aio_call(shape, compat), argument[0], argument[1], aio_address(shape, argument));
    if (!resolve_before(shape, argument, task, state, thread))
        return 0;
    if (!thread)
        thread = thread_of(state, task);
    state->enter_ns = bpf_ktime_get_ns();
    state->pending = number + 1;
    if (thread) {
        thread->pending_ns = state->enter_ns;
        thread->pending_volume = state->volume ? state->volume : state->volume2;
        thread->pending_op = shape->op;
    }
    return 0;
}

/* --- at its end --- */

static __always_inline bool makes_a_file(const volatile struct abi_syscall *shape,
                                         const __u64 argument[6], struct file *file)
{
    __u64 flags = 0;

    if (shape->shape == ABI_SHAPE_OPEN_HOW)
        bpf_probe_read_user(&flags, sizeof(flags), (const void *)pick(argument, shape->third));
    else if (shape->third >= 0)
        flags = pick(argument, shape->third);
    return flags & O_TMPFILE_BIT || (file && BPF_CORE_READ(file, f_mode) & FMODE_CREATED);
}

/* An open tells the size of a regular file; a link, a symlink or a node made has none. */
static __always_inline void record_open(const struct abi_task *state, __u32 op, long result,
                                        __u64 latency_ns)
{
    struct measure m = {
        .op = op,
        .process = state->process,
        .volume = state->volume,
        .latency_ns = latency_ns,
        .count = 1,
        .error = result < 0,
    };
    struct file *file = (struct file *)state->file;

    if (state->volume == ABI_VOLUME_NONE)
        return;
    if (file && result >= 0) {
        struct inode *inode = (struct inode *)state->inode;

        forget_position(file);
        m.sized = (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG;
        m.size = BPF_CORE_READ(inode, i_size);
    }
    record(&m, state->thread, state->job);
}

/* What the call was and where it went, now that its result is known. */
static __always_inline __u32 resolve_after(const volatile struct abi_syscall *shape,
                                           const __u64 argument[6], long result,
                                           struct task_struct *task, struct abi_task *state,
                                           struct abi_thread *thread)
{
    int directory = directory_argument(shape, argument);
    __u64 path = pick(argument, shape->path);
    struct file *file = NULL;

    switch (shape->shape) {
    case ABI_SHAPE_OPEN:
    case ABI_SHAPE_OPEN_HOW:
        if (result >= 0)
            file = file_of(task, (int)result);
        if (file)
            resolve_file(state, thread, file);
        else if (shape->path < 0)
            state->volume = volume_of_directory(task, directory);
        else
            state->volume = volume_of_path(directory, path);
        return makes_a_file(shape, argument, file) ? OP_CREATE : OP_OPEN;
    case ABI_SHAPE_STAT:
    case ABI_SHAPE_STATX:
        if (result == 0) {
            const void *buffer = (const void *)pick(argument, shape->third);

            state->volume = volume_of_stat(shape, thread, directory, path, buffer);
            break;
        }
        /* fall through */
    case ABI_SHAPE_PATH:
        state->volume = volume_of_path(directory, path);
        break;
    }
    return shape->op;
}

static __always_inline int leave(struct pt_regs *regs, long result)
{
    long number = number_of(regs);
    const volatile struct abi_syscall *shape = shape_of(number);
    struct task_struct *task;
    struct abi_thread *thread;
    struct abi_task *state;
    __u64 argument[6], now, offset = UINT64_MAX;
    bool compat;
    __u32 op;

    if (!shape)
        return 0;
    task = bpf_get_current_task_btf();
    compat = is_compat(task);
    shape = shape_for(shape, compat);
    state = shape ? known_state(task) : NULL;
    if (!state)
        return 0;
    if (shape->shape == ABI_SHAPE_AIO) {
        read_arguments(shape, regs, compat, argument);
        return aio_leave(aio_call(shape, compat), argument[0], argument[1], aio_address(shape, argument),
                         result);
    }
    if (state->pending != number + 1 || state->restart_op)
        return 0;
    if (state->enter_ns < control.since_ns) {
        state->pending = 0;
        return 0;
    }
    now = bpf_ktime_get_ns();
    thread = thread_at(state->thread);
    read_arguments(shape, regs, compat, argument);
    op = resolve_after(shape, argument, result, task, state, thread);
    if (result >= MAY_RESTART_FIRST && result <= MAY_RESTART_LAST) {
        state->restart_op = op;
        state->exit_ns = now;
        return 0;
    }
    state->pending = 0;
    if (thread)
        thread->pending_op = 0;
    if (shape->shape == ABI_SHAPE_CLOSE_RANGE) {
        record_ranges(state, result, now - state->enter_ns);
        return 0;
    }
    if (op == OP_OPEN || op == OP_CREATE) {
        record_open(state, op, result, now - state->enter_ns);
        return 0;
    }
    if (shape->shape == ABI_SHAPE_FD && shape->third >= 0)
        offset = pick(argument, shape->third); /* -1 to preadv2() is the file's own, too */
    record_result(state, op, state->volume, result, now - state->enter_ns, offset);
    if (shape->shape == ABI_SHAPE_TRANSFER)
        record_result(state, OP_WRITE, state->volume2, result, now - state->enter_ns, offset);
    return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long number)
{
    return enter(regs, number);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
    leave(regs, result);
    drop_spare(bpf_get_current_task_btf());
    return 0;
}

/* The same at other places, for kernels and loads where those are better. */
#include "probe/bpf/flavour.bpf.h"

/* --- the drain's helpers: push free indices on a stack, faster than a system call for each --- */

struct fill {
    __u64 table; /* enum abi_table */
    __u64 first;
    __u64 end; /* one past the last; pushed from there downwards, ABI_FILL at most */
};

static __always_inline void push_free(__u64 table, __u32 index)
{
    switch (table) {
    case ABI_TABLE_ROWS:
        bpf_map_push_elem(&free_rows, &index, BPF_ANY);
        break;
    case ABI_TABLE_PAGES:
        bpf_map_push_elem(&free_pages, &index, BPF_ANY);
        break;
    case ABI_TABLE_THREADS:
        bpf_map_push_elem(&free_threads, &index, BPF_ANY);
        break;
    case ABI_TABLE_PROCESSES:
        bpf_map_push_elem(&free_processes, &index, BPF_ANY);
        break;
    }
}

SEC("raw_tp/sys_enter")
int on_fill(struct fill *context)
{
    __u64 table = context->table, first = context->first, end = context->end;

    for (int i = 0; i < ABI_FILL; i++) {
        if (end <= first)
            break;
        push_free(table, --end);
    }
    return 0;
}

/* Those that stand in `returned`, from its beginning to end. */
SEC("raw_tp/sys_enter")
int on_return(struct fill *context)
{
    __u64 table = context->table, end = context->end;

    for (__u32 i = 0; i < ABI_RETURN; i++) {
        if (i >= end)
            break;
        push_free(table, returned[i & (ABI_RETURN - 1)]);
    }
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
