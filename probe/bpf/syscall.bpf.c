/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: from sys_enter, where the clock starts, to sys_exit, where the operation is counted. */
#include "probe/bpf/volume.bpf.h"

#include <bpf/bpf_tracing.h>

#define MAY_RESTART_FIRST (-516) /* -ERESTART_RESTARTBLOCK */
#define MAY_RESTART_LAST  (-512) /* -ERESTARTSYS */

#define O_TMPFILE_BIT  020000000
#define FMODE_CREATED  0x100000
#define CLOEXEC_ONLY   4 /* CLOSE_RANGE_CLOEXEC */
#define CLOSE_RANGE_WORDS 8000 /* of 64 descriptors each; the verifier allows 8192 jumps */

#if defined(__TARGET_ARCH_x86)
#define COMPAT_STATUS 2 /* TS_COMPAT */
#define STAT_MODE     24
#define STAT_RDEV     40
static __always_inline long number_of(struct pt_regs *regs)
{
    return regs->orig_ax;
}

static __always_inline long result_of(struct pt_regs *returned)
{
    return returned->ax;
}

static __always_inline bool is_compat(struct task_struct *task)
{
    return task->thread_info.status & COMPAT_STATUS;
}

static __always_inline void arguments_of(struct pt_regs *regs, __u64 argument[6])
{
    argument[0] = regs->di;
    argument[1] = regs->si;
    argument[2] = regs->dx;
    argument[3] = regs->r10;
    argument[4] = regs->r8;
    argument[5] = regs->r9;
}
#else
#define COMPAT_FLAG (1UL << 22) /* TIF_32BIT */
#define STAT_MODE   16
#define STAT_RDEV   32
static __always_inline long number_of(struct pt_regs *regs)
{
    return regs->syscallno;
}

static __always_inline long result_of(struct pt_regs *returned)
{
    return returned->regs[0];
}

static __always_inline bool is_compat(struct task_struct *task)
{
    return task->thread_info.flags & COMPAT_FLAG;
}

static __always_inline void arguments_of(struct pt_regs *regs, __u64 argument[6])
{
    argument[0] = regs->orig_x0;
    argument[1] = regs->regs[1];
    argument[2] = regs->regs[2];
    argument[3] = regs->regs[3];
    argument[4] = regs->regs[4];
    argument[5] = regs->regs[5];
}
#endif

static __always_inline __u64 pick(const __u64 argument[6], int which)
{
    switch (which) {
    case 0:
        return argument[0];
    case 1:
        return argument[1];
    case 2:
        return argument[2];
    case 3:
        return argument[3];
    case 4:
        return argument[4];
    }
    return 0;
}

static __always_inline int directory_argument(const volatile struct abi_syscall *shape,
                                              const __u64 argument[6])
{
    return shape->fd < 0 ? AT_FDCWD : (int)pick(argument, shape->fd);
}

/*
 * Where a transfer of some bytes starts, seen from the one before it on the same open file. The first one is expected
 * at offset 0. start: UINT64_MAX when the file's own offset was used, which has moved on by now.
 */
static __always_inline __u32 order_of(const struct abi_task *state, __u64 start, __u64 bytes)
{
    struct abi_position *last, fresh = {.inode = state->inode};
    struct file *file = (struct file *)state->file;
    __u64 address = state->file;
    __u32 order;

    if (start == UINT64_MAX)
        start = BPF_CORE_READ(file, f_pos) - bytes;
    last = bpf_map_lookup_elem(&positions, &address);
    if (!last || last->inode != fresh.inode) {
        fresh.end = start + bytes;
        bpf_map_update_elem(&positions, &address, &fresh, BPF_ANY);
        return start ? ABI_SEQUENTIAL : ABI_CONSECUTIVE;
    }
    order = start > last->end ? ABI_SEQUENTIAL : start < last->end ? ABI_RANDOM : ABI_CONSECUTIVE;
    last->end = start + bytes;
    return order;
}

/* A new open file may lie where an old one was. */
static __always_inline void forget_position(struct file *file)
{
    __u64 address = (__u64)file;
    struct abi_position *last = bpf_map_lookup_elem(&positions, &address);

    if (last)
        last->end = 0;
}

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
    if (m.sized && result && state->file)
        m.order = order_of(state, offset, result);
    record(&m, state->thread, state->job);
}

/* --- at the start of a call --- */

/* One descriptor that a close_range() may be about to close. Global: the verifier follows the loop, not this. */
__noinline int remember_close(__u32 fd, __u32 first, __u32 end, bool open)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    __u64 volume;

    if (!state || !open || fd < first || fd > end)
        return 0;
    volume = volume_of_fd(task, NULL, (int)fd);
    if (volume == ABI_VOLUME_NONE)
        return 0;
    for (int i = 0; i < ABI_RANGES; i++) {
        struct abi_range *range = &state->ranges[i];
        bool other = range->count && range->volume != volume;

        if (other && i + 1 < ABI_RANGES)
            continue;
        /* More volumes than places: the last place is for what cannot be told apart. */
        range->volume = other ? ABI_VOLUME_UNKNOWN : volume;
        range->count++;
        break;
    }
    return 0;
}

/* Those of a range that stand in one word of the bitmap of open descriptors. Global for the same reason. */
__noinline int remember_word(__u32 word, __u32 first, __u32 end)
{
    struct task_struct *task = bpf_get_current_task_btf();
    __u64 bits = 0;

    bpf_probe_read_kernel(&bits, sizeof(bits), task->files->fdt->open_fds + word);
    if (!bits)
        return 0;
    /* No branch in here: Linux 6.1 refuses a loop that clang has made to be entered in the middle. */
    for (__u32 i = 0; i < 64; i++)
        remember_close(word * 64 + i, first, end, bits >> i & 1);
    return 0;
}

/* A closed file is unknown to its descriptor afterwards: look before. */
static __noinline void remember_range(struct abi_task *state, __u32 first, __u32 end)
{
    struct task_struct *task = bpf_get_current_task_btf();
    __u32 word = first / 64;

    __builtin_memset(state->ranges, 0, sizeof(state->ranges));
    if (end >= task->files->fdt->max_fds)
        end = task->files->fdt->max_fds - 1;
    for (int i = 0; i < CLOSE_RANGE_WORDS; i++, word++) {
        if (word > end / 64)
            return;
        remember_word(word, first, end);
    }
    count(ABI_COUNTER_LOST, 1); /* at least: what is open behind half a million descriptors */
}

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
    return shape->op ? shape : NULL;
}

static __always_inline int enter(struct pt_regs *regs, long number)
{
    const volatile struct abi_syscall *shape = shape_of(number);
    struct task_struct *task;
    struct abi_thread *thread;
    struct abi_task *state;
    __u64 argument[6];

    if (!shape)
        return 0;
    task = bpf_get_current_task_btf();
    state = current_state(task);
    if (!state)
        return 0;
    if (is_compat(task)) {
        count(ABI_COUNTER_COMPAT, 1);
        return 0;
    }
    thread = thread_at(state->thread);
    if (state->restart_op) {
        if (state->pending == number + 1) {
            state->restart_op = 0;
            return 0; /* the same call again: its clock runs on */
        }
        settle_restart(state);
    }
    arguments_of(regs, argument);
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

static __always_inline __u64 volume_of_device_number(struct abi_thread *thread, __u64 device)
{
    __u64 key = ABI_VOLUME_FS | device, volume;
    struct abi_volume *known;

    if (thread && thread->stat_device == key)
        return thread->stat_volume;
    known = bpf_map_lookup_elem(&volumes, &key);
    if (!known)
        return ABI_VOLUME_UNKNOWN;
    volume = known->pseudo && !config.pseudo ? ABI_VOLUME_NONE : key;
    if (thread) {
        thread->stat_device = key;
        thread->stat_volume = volume;
    }
    return volume;
}

/* The kernel's dev_t of the number that user space sees (new_encode_dev, linux/kdev_t.h). */
static __always_inline __u64 decode_device(__u64 encoded)
{
    return (encoded >> 8 & 0xfff) << 20 | (encoded & 0xff) | (encoded >> 12 & 0xfff00);
}

/* The volume of what a successful stat has described in the program's buffer. */
static __always_inline __u64 volume_of_stat(const volatile struct abi_syscall *shape,
                                            struct abi_thread *thread, int directory,
                                            __u64 path, const void *buffer)
{
    __u64 device, special;
    __u16 mode = 0;

    if (shape->shape == ABI_SHAPE_STATX) {
        __u32 numbers[4]; /* stx_rdev_major, _minor, stx_dev_major, _minor */

        bpf_probe_read_user(&mode, sizeof(mode), buffer + 28);
        if (bpf_probe_read_user(numbers, sizeof(numbers), buffer + 128))
            return ABI_VOLUME_UNKNOWN;
        special = (__u64)numbers[0] << 20 | numbers[1];
        device = (__u64)numbers[2] << 20 | numbers[3];
    } else {
        bpf_probe_read_user(&mode, sizeof(mode), buffer + STAT_MODE);
        bpf_probe_read_user(&special, sizeof(special), buffer + STAT_RDEV);
        if (bpf_probe_read_user(&device, sizeof(device), buffer))
            return ABI_VOLUME_UNKNOWN;
        special = decode_device(special);
        device = decode_device(device);
    }
    switch (mode & S_IFMT) {
    case S_IFBLK:
        return ABI_VOLUME_DEVICE | special;
    case S_IFREG:
    case S_IFDIR:
    case S_IFLNK:
        break;
    default:
        return ABI_VOLUME_NONE;
    }
    device = volume_of_device_number(thread, device);
    /* A number that is no superblock's: a btrfs subvolume, an overlay's lower file, a memfd. */
    return device == ABI_VOLUME_UNKNOWN ? volume_of_path(directory, path) : device;
}

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

static __always_inline void record_ranges(const struct abi_task *state, long result, __u64 latency_ns)
{
    struct measure m = {.op = OP_CLOSE, .error = result < 0, .process = state->process};
    __u64 total = 0;

    for (int i = 0; i < ABI_RANGES; i++)
        total += state->ranges[i].count;
    m.latency_ns = total ? latency_ns / total : 0;
    for (int i = 0; i < ABI_RANGES; i++) {
        m.volume = state->ranges[i].volume;
        m.count = state->ranges[i].count;
        if (m.count)
            record(&m, state->thread, state->job);
    }
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
    __u32 op;

    if (!shape)
        return 0;
    task = bpf_get_current_task_btf();
    state = bpf_task_storage_get(&tasks, task, NULL, 0);
    if (!state || state->pending != number + 1 || state->restart_op)
        return 0;
    now = bpf_ktime_get_ns();
    thread = thread_at(state->thread);
    arguments_of(regs, argument);
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
    return leave(regs, result);
}

/* The same at the functions behind the calls, for kernels that preempt a program on a system call's tracepoint. */

SEC("kprobe.multi")
int on_call_enter(void *context)
{
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

    return enter(regs, number_of(regs));
}

SEC("kretprobe.multi")
int on_call_exit(struct pt_regs *context)
{
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

    return leave(regs, result_of(context));
}

/* --- who belongs to whom --- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
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
    state = bpf_task_storage_get(&tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!state) {
        count(ABI_COUNTER_LOST, 1);
        return 0;
    }
    state->job = from.job;
    if (tgid == parent_tgid) {
        state->process = from.process;
        if (!from.process && from.job)
            count(ABI_COUNTER_HOMELESS, 1);
        return 0;
    }
    if (from.job)
        count(ABI_COUNTER_FORKS, 1);
    state->process = new_process(child, tgid, from.job);
    if (!state->process && from.job)
        count(ABI_COUNTER_HOMELESS, 1);
    if (state->process)
        bpf_map_update_elem(&by_tgid, &tgid, &state->process, BPF_ANY);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    struct abi_process *process = state ? process_at(state->process) : NULL;

    if (process && state->process)
        bpf_probe_read_kernel_str(process->comm, sizeof(process->comm), task->comm);
    return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    struct abi_process *process;
    struct abi_thread *thread;
    __u32 tgid = task->tgid;

    if (!state)
        return 0;
    if (state->pending) {
        count(ABI_COUNTER_KILLED, 1);
        state->pending = 0;
    }
    thread = thread_at(state->thread);
    if (thread) {
        thread->pending_op = 0;
        thread->dead = 1;
    }
    state->thread = 0;
    if (!state->process && state->job)
        count(ABI_COUNTER_HOMELESS, -1);
    if (task->signal->live.counter > 0)
        return 0;
    process = process_at(state->process);
    if (process && state->process && process->tgid == tgid) {
        process->exit_code = task->exit_code;
        process->exited = 1;
        bpf_map_delete_elem(&by_tgid, &tgid);
    }
    return 0;
}

/* --- the drain's helper: fills a stack of free indices, faster than a system call for each --- */

struct fill {
    __u64 table; /* enum abi_table */
    __u64 first;
    __u64 end; /* one past the last; pushed from there downwards, ABI_FILL at most */
};

SEC("raw_tp/sys_enter")
int on_fill(struct fill *context)
{
    __u64 table = context->table, first = context->first, end = context->end;

    for (int i = 0; i < ABI_FILL; i++) {
        __u32 index;

        if (end <= first)
            break;
        index = --end;
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
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
