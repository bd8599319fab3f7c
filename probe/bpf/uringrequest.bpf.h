/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program asks of io_uring: the operations that count, and the file that each is about, with the place in it, as
 * far as that can be told when it is submitted.
 */
#ifndef UNBLEND_PROBE_URINGREQUEST_H
#define UNBLEND_PROBE_URINGREQUEST_H

#include "probe/bpf/async.bpf.h"
#include "probe/bpf/uringtypes.bpf.h"

#define OWN_OFFSET UINT64_MAX

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

    note_file(entry, file, file ? volume_of_file(file) : ABI_VOLUME_NONE);
    if (!entry->volume)
        return;
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
        note_file(entry, file, file ? volume_of_file(file) : ABI_VOLUME_NONE);
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

#endif
