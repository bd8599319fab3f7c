/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The start of a call: where it goes, as far as that must be known before it runs, and the clock. */
#ifndef UNBLEND_PROBE_ENTER_H
#define UNBLEND_PROBE_ENTER_H

#include "probe/bpf/aio.bpf.h"
#include "probe/bpf/call.bpf.h"
#include "probe/bpf/order.bpf.h"
#include "probe/bpf/range.bpf.h"
#include "probe/bpf/tree.bpf.h"

#define EINTR        4
#define CPUS         256 /* a power of two; where there are more, some share and ask the kernel more often */
#define F_SETFL      4
#define CLOEXEC_ONLY 4 /* CLOSE_RANGE_CLOEXEC */

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
 * The calling thread's entry, if it made the last call on this CPU, too; else NULL. It is known by where the kernel keeps
 * its registers, which is at hand: asking for the current task is a call. Where the end of a thread may have been missed,
 * the next one may have its place in memory.
 */
static __always_inline struct abi_thread *running_thread(const struct pt_regs *regs)
{
    struct abi_thread *thread = bpf_map_lookup_elem(&threads, (__u32 *)running_here());

    if (!thread || thread->registers != (__u64)regs)
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

/* NULL for a call that is not counted, neither of 64-bit nor of 32-bit programs. */
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

/* The entry of a 32-bit call, or else of the 64-bit one; NULL when that one is not counted. */
static __always_inline const volatile struct abi_syscall *shape_for(const volatile struct abi_syscall *shape,
                                                                    bool compat)
{
    if (compat)
        shape += ABI_SYSCALLS;
    return shape->op ? shape : NULL;
}

/* What stands in abi_task.pending for a call. */
static __always_inline __u32 mark_of(long number, bool compat)
{
    return number + 1 + (compat ? ABI_SYSCALLS : 0);
}

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

static __always_inline bool holds(const struct abi_file *mine, __u64 file, __u64 inode, __u64 super)
{
    return mine->file == file && mine->inode == inode && mine->super == super;
}

/* Read back from where it is kept: functions that the verifier looks at once take no pointers as numbers. */
static __always_inline __u64 as_number(const __u64 *address)
{
    return *(const volatile __u64 *)address;
}

/* The place of a descriptor has another file from now on, of which nothing else is known yet. */
static __always_inline struct abi_file *take_place(struct abi_thread *thread, __u32 thread_index, __u32 place,
                                                   __u64 file, __u64 inode, __u64 super)
{
    struct abi_file *mine = file_at(thread, place);

    if (mine->file == file)
        mine->owned = 0; /* the file that was there before is gone, and nobody asks for its end */
    else
        release_place(thread_index, place);
    mine->file = file;
    mine->inode = inode;
    mine->super = super;
    return mine;
}

/* The volume of the file in a place. On one volume a thread's transfers have the same rows, whichever file they are on. */
static __always_inline void settle_volume(struct abi_file *mine, __u64 volume)
{
    if (mine->volume == volume)
        return;
    mine->volume = volume;
    mine->row[0] = mine->row[1] = 0;
    mine->size = ABI_SIZE_NONE;
}

/* The volume of a file, which takes its place in the memory of the thread with that index (0: it has none). */
__noinline __u64 learn_file(__u32 thread_index, __u32 place, __u64 file, __u64 inode)
{
    struct abi_thread *thread = thread_at(thread_index);
    struct abi_file *mine;
    __u64 super;

    if (!thread)
        return volume_of_inode(inode, (__u64)BPF_CORE_READ((struct inode *)inode, i_sb), 0);
    mine = file_at(thread, place);
    super = (__u64)LOAD((struct inode *)inode, i_sb);
    if (holds(mine, file, inode, super))
        return mine->volume;
    take_place(thread, thread_index, place, file, inode, super);
    settle_volume(mine, volume_of_inode(as_number(&mine->inode), as_number(&mine->super), thread_index));
    mine->uncached = is_uncached((struct file *)as_number(&mine->file), (struct inode *)as_number(&mine->inode));
    mine->tree = config.tree_depth ? tree_of_file(as_number(&mine->file), mine->volume, thread->process) : 0;
    return mine->volume;
}

/* The thread's place for a descriptor is to be learnt anew. */
static __always_inline void forget_file(const struct abi_task *state, int fd)
{
    struct abi_thread *thread = thread_at(state->thread);

    if (!thread)
        return;
    release_place(state->thread, (__u32)fd);
    file_at(thread, (__u32)fd)->file = 0;
}

/* The volume of a descriptor, whose file is the state's from now on; ABI_VOLUME_NONE when it is no storage. */
static __always_inline __u64 resolve_descriptor(struct abi_task *state, struct task_struct *task, int fd)
{
    struct opened opened;
    __u64 volume;

    state->file = 0;
    if (!look_up(task, fd, &opened))
        return ABI_VOLUME_NONE;
    state->file = (__u64)opened.file;
    state->inode = (__u64)opened.inode;
    state->place = (__u32)fd % ABI_FILE_CACHE;
    volume = learn_file(state->thread, state->place, as_number(&state->file), as_number(&state->inode));
    if (config.tree_depth && !state->thread)
        state->tree = tree_of_file(as_number(&state->file), volume, state->process);
    return volume;
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
        state->file = 0;
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

/*
 * Every call. Not inlined, so that the quick way below needs less than 64 bytes of stack: where it needs more, newer
 * kernels give the program a stack of its own, at a price at each helper.
 */
static __noinline int enter_any(struct pt_regs *regs, long number)
{
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
    if (!shape || control.shed >> shape->op & 1)
        return 0;
    state = current_state(task);
    if (!state)
        return 0;
    thread = thread_in(state);
    if (thread)
        thread->quick = 0;
    if (state->restart_op) {
        if (state->pending == mark) {
            state->restart_op = 0;
            return 0; /* the same call again: its clock runs on */
        }
        settle_restart(state);
    }
    if (shape->shape == ABI_SHAPE_AIO)
        return aio_enter(aio_call(shape, compat), argument_in(regs, compat, 0), argument_in(regs, compat, 1),
                         aio_address(shape, regs, compat));
    if (!resolve_before(shape, regs, compat, task, state))
        return 0;
    thread = thread_of(state, task);
    begin(shape, mark, state, thread);
    return 0;
}

/*
 * Whether what was opened lies on the file system that the thread has used last, as storage: then its volume is known
 * without learning the file. Trees are told by file.
 */
static __always_inline bool is_where_last(const struct abi_thread *thread, const struct opened *opened)
{
    struct super_block *super = opened->super;
    struct inode *inode = opened->inode;
    __u32 type;

    if (config.tree_depth || thread->pseudo || thread->device != (ABI_VOLUME_FS | LOAD(super, s_dev)))
        return false;
    type = LOAD(inode, i_mode) & S_IFMT;
    return type == S_IFREG || type == S_IFDIR;
}

/* A call by path that has none, but a descriptor, as utimensat(fd, NULL, ...). */
static __always_inline bool is_by_descriptor(const volatile struct abi_syscall *shape, struct pt_regs *regs)
{
    return shape->shape == ABI_SHAPE_PATH && shape->fd == 0 && shape->path == 1 && !argument_of(regs, 1);
}

/* fcntl(), which never counts. Another call of 32-bit programs may have its number. */
static __always_inline bool is_fcntl(const volatile struct abi_syscall *shape)
{
    return shape->shape == ABI_SHAPE_FCNTL && !shape->compat;
}

/* A call whose number counts in 32-bit programs alone, by another one. */
static __always_inline bool is_other(const volatile struct abi_syscall *shape)
{
    return !shape->op && !is_compat(bpf_get_current_task_btf());
}

/* Calls that never count. */
static __always_inline bool is_passed_over(const volatile struct abi_syscall *shape)
{
    return !shape || is_fcntl(shape) || is_other(shape);
}

/* Most calls: by a thread that is known, on a file that it has used before or by path. */
static __always_inline int enter(struct pt_regs *regs, long number)
{
    const volatile struct abi_syscall *shape = shape_of(number);
    struct task_struct *task;
    struct abi_thread *thread;
    struct abi_task *state;
    struct abi_file *mine;
    struct opened opened;
    int fd;

    if (!shape || (is_fcntl(shape) && argument_of(regs, 1) != F_SETFL) || is_other(shape))
        return 0;
    thread = running_thread(regs);
    if (!thread) {
        task = bpf_get_current_task_btf();
        state = bpf_task_storage_get(&tasks, task, NULL, 0);
        if (!state && !config.all)
            return 0;
        thread = state ? run_thread(state, task, regs) : NULL;
    }
    if (!thread || thread->quick)
        return enter_any(regs, number);
    task = task_of(thread);
    if (is_compat(task))
        return enter_any(regs, number);
    if (control.shed >> shape->op & 1)
        return 0;
    if (shape->shape == ABI_SHAPE_FD || is_by_descriptor(shape, regs)) {
        fd = (int)argument_of(regs, 0);
        if (!look_up(task, fd, &opened))
            return 0;
        mine = file_at(thread, (__u32)fd);
        if (holds(mine, (__u64)opened.file, (__u64)opened.inode, (__u64)opened.super)) {
            if (mine->volume == ABI_VOLUME_NONE)
                return 0;
            thread->pending_volume = mine->volume;
        } else if (shape->op > OP_WRITE && is_where_last(thread, &opened)) {
            thread->pending_volume = thread->device; /* one that is only looked at or closed takes no place */
        } else {
            return enter_any(regs, number);
        }
        thread->quick_place = (__u32)fd % ABI_FILE_CACHE;
    } else if (shape->shape >= ABI_SHAPE_BY_PATH) {
        thread->pending_volume = ABI_VOLUME_UNKNOWN;
        thread->quick_place = ABI_FILE_CACHE;
    } else {
        return enter_any(regs, number);
    }
    thread->pending_op = shape->op;
    thread->missed = 0;
    thread->quick = mark_of(number, false);
    thread->pending_ns = bpf_ktime_get_ns();
    return 0;
}

#endif
