/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_uring: from the kernel's taking of a request to its completion, whoever runs it. What is asked for is read from
 * the program's own request; a file that is opened by one request for another to use is known when that one is complete.
 */
#include "probe/bpf/async.bpf.h"
#include "probe/bpf/sketch.bpf.h"
#include "probe/bpf/stat.bpf.h"
#include "probe/bpf/uringtypes.bpf.h"

#include <bpf/bpf_tracing.h>

#define O_TMPFILE_BIT 020000000
#define FMODE_CREATED 0x100000
#define OWN_OFFSET    UINT64_MAX

enum uring_shape {
    URING_FD,       /* fd */
    URING_TRANSFER, /* fd, offset, length */
    URING_VECTOR,   /* fd, offset, length pieces at address */
    URING_CLOSE,    /* fd or slot */
    URING_SPLICE,   /* from slot, a descriptor here, to fd */
    URING_OPEN,     /* directory fd, path at address, flags; URING_OPEN_HOW: those are at offset */
    URING_OPEN_HOW,
    URING_STATX,   /* directory fd, path at address, result at offset */
    URING_PATH,    /* directory fd, path at address */
    URING_NEW,     /* directory fd, path at offset */
    URING_LINK,    /* directory length, path at offset */
    URING_XATTR,   /* path at address3 */
};

struct uring_operation {
    __u8 op, shape;
};

/* By IORING_OP_*, from the kernel's user API. */
static const struct uring_operation operations[] = {
    [1] = {OP_READ, URING_VECTOR},     /* READV */
    [2] = {OP_WRITE, URING_VECTOR},    /* WRITEV */
    [3] = {OP_FSYNC, URING_FD},        /* FSYNC */
    [4] = {OP_READ, URING_TRANSFER},   /* READ_FIXED */
    [5] = {OP_WRITE, URING_TRANSFER},  /* WRITE_FIXED */
    [8] = {OP_FSYNC, URING_FD},        /* SYNC_FILE_RANGE */
    [17] = {OP_TRUNCATE, URING_FD},    /* FALLOCATE */
    [18] = {OP_OPEN, URING_OPEN},      /* OPENAT */
    [19] = {OP_CLOSE, URING_CLOSE},    /* CLOSE */
    [21] = {OP_STAT, URING_STATX},     /* STATX */
    [22] = {OP_READ, URING_TRANSFER},  /* READ */
    [23] = {OP_WRITE, URING_TRANSFER}, /* WRITE */
    [28] = {OP_OPEN, URING_OPEN_HOW},  /* OPENAT2 */
    [30] = {OP_READ, URING_SPLICE},    /* SPLICE */
    [35] = {OP_RENAME, URING_PATH},    /* RENAMEAT */
    [36] = {OP_UNLINK, URING_PATH},    /* UNLINKAT */
    [37] = {OP_MKDIR, URING_PATH},     /* MKDIRAT */
    [38] = {OP_CREATE, URING_NEW},     /* SYMLINKAT */
    [39] = {OP_CREATE, URING_LINK},    /* LINKAT */
    [41] = {OP_SETATTR, URING_FD},     /* FSETXATTR */
    [42] = {OP_SETATTR, URING_XATTR},  /* SETXATTR */
    [43] = {OP_STAT, URING_FD},        /* FGETXATTR */
    [44] = {OP_STAT, URING_XATTR},     /* GETXATTR */
    [49] = {OP_READ, URING_FD},        /* READ_MULTISHOT: files refuse it */
    [55] = {OP_TRUNCATE, URING_FD},    /* FTRUNCATE */
    [60] = {OP_READ, URING_VECTOR},    /* READV_FIXED */
    [61] = {OP_WRITE, URING_VECTOR},   /* WRITEV_FIXED */
};
#define OPCODES (sizeof(operations) / sizeof(*operations))

static __always_inline struct uring_operation operation_of(__u32 opcode)
{
    return opcode < OPCODES ? operations[opcode] : (struct uring_operation){};
}

/* --- at the submission --- */

static __always_inline struct file *file_asked(struct io_ring_ctx *ring, struct task_struct *task, int fd,
                                               bool registered)
{
    return registered ? registered_file(ring, fd) : file_of(task, fd);
}

/* Whether it is about an open file that is no storage, such as a socket. */
static __always_inline bool is_elsewhere(struct io_ring_ctx *ring, struct task_struct *task,
                                         const struct uring_request *sqe, __u8 shape)
{
    struct file *file;

    if (shape != URING_FD && shape != URING_TRANSFER && shape != URING_VECTOR)
        return false;
    file = file_asked(ring, task, sqe->fd, sqe->flags & SQE_FIXED_FILE);
    return file && volume_of_file(file) == ABI_VOLUME_NONE;
}

/* A file that is not there yet may come; what is none then is not counted. */
static __always_inline void resolve_file(struct abi_async *entry, struct file *file, const struct uring_request *sqe,
                                         __u8 shape)
{
    __u64 bytes = sqe->length;

    entry->volume = file ? volume_of_file(file) : ABI_VOLUME_NONE;
    if (!entry->volume)
        return;
    entry->tree = tree_asked(file, entry->volume, entry->process);
    if (shape != URING_TRANSFER && shape != URING_VECTOR)
        return;
    if (sqe->offset == OWN_OFFSET) {
        entry->unplaced = 1;
        return;
    }
    if (shape == URING_VECTOR)
        bytes = bytes_asked(sqe->address, sqe->length);
    entry->order = order_asked(file, sqe->offset, bytes);
}

static __always_inline void resolve(struct abi_async *entry, struct io_ring_ctx *ring, struct task_struct *task,
                                    const struct uring_request *sqe, __u8 shape)
{
    bool registered = sqe->flags & SQE_FIXED_FILE;
    struct file *file;
    __u64 flags = 0;

    entry->directory = sqe->fd;
    entry->path = sqe->address;
    switch (shape) {
    case URING_FD:
    case URING_TRANSFER:
    case URING_VECTOR:
        resolve_file(entry, file_asked(ring, task, sqe->fd, registered), sqe, shape);
        return;
    case URING_CLOSE:
        entry->slot = sqe->slot;
        file = sqe->slot ? registered_file(ring, sqe->slot - 1) : file_of(task, sqe->fd);
        resolve_file(entry, file, sqe, shape);
        return;
    case URING_SPLICE:
        file = file_asked(ring, task, sqe->slot, sqe->op_flags & SPLICE_FD_IN_FIXED);
        entry->volume = file ? volume_of_file(file) : ABI_VOLUME_NONE;
        entry->tree = file ? tree_asked(file, entry->volume, entry->process) : 0;
        file = file_asked(ring, task, sqe->fd, registered);
        entry->volume2 = file ? volume_of_file(file) : ABI_VOLUME_NONE;
        entry->tree2 = file ? tree_asked(file, entry->volume2, entry->process) : 0;
        return;
    case URING_OPEN:
        entry->slot = sqe->slot;
        entry->argument = sqe->op_flags;
        break;
    case URING_OPEN_HOW:
        entry->slot = sqe->slot;
        bpf_probe_read_user(&flags, sizeof(flags), (const void *)sqe->offset);
        entry->argument = flags;
        break;
    case URING_STATX:
        entry->argument = sqe->offset;
        break;
    case URING_LINK:
        entry->directory = sqe->length;
        entry->path = sqe->offset;
        break;
    case URING_NEW:
        entry->path = sqe->offset;
        break;
    case URING_XATTR:
        entry->directory = AT_FDCWD;
        entry->path = sqe->address3;
        break;
    }
    entry->volume = volume_of_path(entry->directory, entry->path);
    if (config.tree_depth)
        entry->tree = tree_of_path(entry->directory, entry->path, entry->volume, entry->process);
}

static __always_inline bool finish(struct io_kiocb *request, const struct abi_async_key *key,
                                   struct abi_async *entry);

/* sqe: the program's request, where it is at hand */
static __always_inline int submit(struct io_kiocb *request, const void *sqe, bool again)
{
    struct uring_operation what = operation_of(BPF_CORE_READ(request, opcode));
    struct abi_async_key key = {.request = (__u64)request};
    struct io_ring_ctx *ring = BPF_CORE_READ(request, ctx);
    struct uring_request asked = {};
    struct task_struct *task;
    struct abi_async *entry;
    struct abi_task *state;
    bool known;

    if (!what.op && !config.twice)
        return 0;
    task = bpf_get_current_task_btf();
    state = acting_state(task);
    if (!state)
        state = current_state(task);
    if (!state || is_done(state, (__u64)ring, BPF_CORE_READ(ring, cached_sq_head), again) || !what.op)
        return 0;
    if (sqe)
        known = !bpf_probe_read_kernel(&asked, sizeof(asked), sqe);
    else
        known = read_request(request, &asked);
    /* The kernel uses the memory of a request again: that one's completion was not told. */
    entry = bpf_map_lookup_elem(&async, &key);
    if (entry && entry->ring == (__u64)ring)
        finish(request, &key, entry);
    if (control.shed >> what.op & 1 || (known && is_elsewhere(ring, task, &asked, what.shape)))
        return 0;
    entry = note(&key, state, task);
    if (!entry)
        return 0;
    join_users(state, task->tgid, ABI_USES_RINGS);
    entry->ring = (__u64)ring;
    entry->opcode = BPF_CORE_READ(request, opcode);
    entry->tag = BPF_CORE_READ(request, cqe.user_data);
    entry->silent = (asked.flags & SQE_SILENT) != 0;
    entry->volume = ABI_VOLUME_UNKNOWN;
    if (known)
        resolve(entry, ring, task, &asked, what.shape);
    entry->start_ns = bpf_ktime_get_ns();
    entry->op = what.op;
    return 0;
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(on_uring_submit, struct io_kiocb *request)
{
    return submit(request, NULL, false);
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(on_uring_submit_again, struct io_kiocb *request)
{
    return submit(request, NULL, true);
}

/* One that the kernel refuses when it reads it is not submitted, and is completed all the same. */
SEC("tp_btf/io_uring_req_failed")
int BPF_PROG(on_uring_refuse, const void *sqe, struct io_kiocb *request)
{
    return submit(request, sqe, false);
}

SEC("tp_btf/io_uring_req_failed")
int BPF_PROG(on_uring_refuse_again, const void *sqe, struct io_kiocb *request)
{
    return submit(request, sqe, true);
}

/* --- at its completion --- */

/* A file that is opened for the ring has no descriptor. */
static __always_inline struct file *file_opened(const struct abi_async *entry, long result)
{
    struct io_ring_ctx *ring = (struct io_ring_ctx *)entry->ring;

    if (entry->slot == FILE_INDEX_ALLOC)
        return registered_file(ring, result);
    if (entry->slot)
        return registered_file(ring, entry->slot - 1);
    return file_of(bpf_get_current_task_btf(), result);
}

static __always_inline void remember_slot(const struct abi_async *entry, __u64 volume, long result)
{
    struct abi_slot_key key = {.ring = entry->ring,
                               .slot = entry->slot == FILE_INDEX_ALLOC ? result + 1 : entry->slot};

    if (entry->slot)
        bpf_map_update_elem(&ring_slots, &key, &volume, BPF_ANY);
}

static __always_inline void finish_open(const struct abi_async *entry, long result, __u64 now)
{
    struct measure m = {.op = OP_OPEN, .volume = entry->volume, .error_code = result < 0 ? -result : 0};
    struct file *file = result >= 0 ? file_opened(entry, result) : NULL;
    __u32 tree = entry->tree;

    if (entry->argument & O_TMPFILE_BIT)
        m.op = OP_CREATE;
    if (file) {
        struct inode *inode = BPF_CORE_READ(file, f_inode);

        forget_position((__u64)file, (__u64)inode, 0);
        if (BPF_CORE_READ(file, f_mode) & FMODE_CREATED)
            m.op = OP_CREATE;
        m.volume = volume_of_file(file);
        m.sized = (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG;
        m.size = BPF_CORE_READ(inode, i_size);
        remember_slot(entry, m.volume, result);
        tree = tree_asked(file, m.volume, entry->process);
        if (m.sized && m.volume != ABI_VOLUME_NONE)
            tell_file(inode, m.volume, (__u64)entry->process << 32 | entry->job, now, tree);
    }
    account_async(entry, &m, now);
    count_measured(tree, &m);
}

static __always_inline __u64 volume_closed(const struct abi_async *entry)
{
    struct abi_slot_key key = {.ring = entry->ring, .slot = entry->slot};
    __u64 *volume = entry->volume == ABI_VOLUME_NONE ? bpf_map_lookup_elem(&ring_slots, &key) : NULL;

    return volume ? *volume : entry->volume;
}

static __always_inline __u64 volume_described(const struct abi_async *entry)
{
    __u64 volume = volume_of_stat(LAYOUT_STATX, NULL, (const void *)entry->argument);

    return volume == ABI_VOLUME_UNKNOWN ? volume_of_path(entry->directory, entry->path) : volume;
}

/* The file that the kernel has found for the request, which is known at the latest when it has run. */
static __always_inline void finish_file(struct io_kiocb *request, struct abi_async *entry, long result)
{
    struct file *file = BPF_CORE_READ(request, file);

    if (!file)
        return;
    if (entry->volume <= ABI_VOLUME_UNKNOWN) {
        entry->volume = volume_of_file(file);
        entry->tree = tree_asked(file, entry->volume, entry->process);
    }
    if (entry->unplaced && result > 0)
        entry->order = order_asked(file, BPF_CORE_READ(file, f_pos) - result, result);
}

/* False when somebody else does that. */
static __always_inline bool finish(struct io_kiocb *request, const struct abi_async_key *key,
                                   struct abi_async *entry)
{
    struct uring_operation what = operation_of(entry->opcode);
    long result = result_of_request(key->request);
    __u64 now = bpf_ktime_get_ns();

    if (!take(entry))
        return false;
    if (is_stale(entry)) {
        bpf_map_delete_elem(&async, key);
        return true;
    }
    switch (what.shape) {
    case URING_OPEN:
    case URING_OPEN_HOW:
        finish_open(entry, result, now);
        break;
    case URING_FD:
    case URING_TRANSFER:
    case URING_VECTOR:
        finish_file(request, entry, result);
        account_result(entry, entry->op, entry->volume, result, now);
        break;
    case URING_SPLICE:
        account_result(entry, OP_WRITE, entry->volume2, result, now);
        account_result(entry, OP_READ, entry->volume, result, now);
        break;
    case URING_CLOSE:
        account_result(entry, OP_CLOSE, volume_closed(entry), result, now);
        break;
    case URING_STATX:
        account_result(entry, OP_STAT, result ? entry->volume : volume_described(entry), result, now);
        break;
    default:
        account_result(entry, entry->op, entry->volume, result, now);
    }
    bpf_map_delete_elem(&async, key);
    return true;
}

static __always_inline int end(__u64 address, bool again)
{
    struct io_kiocb *request = (struct io_kiocb *)address;
    struct abi_async_key key = {.request = address};
    struct abi_async *entry;

    if (!address)
        return 0;
    entry = bpf_map_lookup_elem(&async, &key);
    if (config.twice) {
        struct task_struct *task = bpf_get_current_task_btf();
        struct abi_task *state = entry ? acting_state(task) : bpf_task_storage_get(&tasks, task, NULL, 0);

        if (is_done(state, ~(__u64)BPF_CORE_READ(request, ctx), BPF_CORE_READ(request, ctx, cached_cq_tail), again))
            return 0;
    }
    if (entry)
        finish(request, &key, entry);
    return 0;
}

SEC("tp_btf/io_uring_complete")
int on_uring_complete(__u64 *context)
{
    return end(context[1], false);
}

SEC("tp_btf/io_uring_complete")
int on_uring_complete_again(__u64 *context)
{
    return end(context[1], true);
}

/* The ring is full; the completion is kept for later, under the name that the program gave it. */
struct overflow {
    __u64 ring, tag;
    int result;
};

static long match_overflow(void *map, const struct abi_async_key *key, struct abi_async *entry,
                           struct overflow *overflow)
{
    struct io_kiocb *request = (struct io_kiocb *)key->request;

    /* Without an op it is being noted on another CPU. */
    if (key->owner || !entry->op || entry->ring != overflow->ring || entry->tag != overflow->tag ||
        result_of_request(key->request) != overflow->result)
        return 0;
    return finish(request, key, entry);
}

SEC("tp_btf/io_uring_cqe_overflow")
int BPF_PROG(on_uring_overflow, void *ring, __u64 tag, int result)
{
    struct overflow overflow = {.ring = (__u64)ring, .tag = tag, .result = result};

    bpf_for_each_map_elem(&async, match_overflow, &overflow, 0);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
