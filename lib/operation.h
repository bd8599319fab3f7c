/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one list of operations. The order is part of the kernel ABI (probe/bpf/abi.h) and of nothing
 * else: files, wire and database carry names. Freestanding, the BPF programs include it.
 */
#ifndef UNBLEND_LIB_OPERATION_H
#define UNBLEND_LIB_OPERATION_H

enum operation {
    OP_NONE,
    /* file layer */
    OP_READ,
    OP_WRITE,
    OP_OPEN,
    OP_CLOSE,
    OP_STAT,
    OP_SEEK,
    OP_READDIR,
    OP_CREATE,
    OP_UNLINK,
    OP_RENAME,
    OP_MKDIR,
    OP_TRUNCATE,
    OP_SETATTR,
    OP_FSYNC,
    OP_MMAP_FAULT,
    /* block layer */
    OP_BLOCK_READ,
    OP_BLOCK_WRITE,
    OP_BLOCK_FLUSH,
    OP_BLOCK_DISCARD,
    OP_COUNT
};

#define OP_FIRST       OP_READ
#define OP_FILE_END    OP_BLOCK_READ /* one past the last operation of the file layer */

/* They say how large the file is that is open, though nothing is transferred (record.h, file_size). */
static inline _Bool operation_tells_file_size(unsigned op)
{
    return (1u << OP_SEEK | 1u << OP_CLOSE) >> op & 1;
}

#ifndef __bpf__

enum operation_class {
    OP_CLASS_DATA,     /* moves bytes between a program and a file */
    OP_CLASS_METADATA, /* names, attributes, descriptors */
    OP_CLASS_SEEK,     /* counted beside metadata, never inside it */
    OP_CLASS_SYNC,
    OP_CLASS_FAULT,
    OP_CLASS_BLOCK,
};

struct operation_info {
    const char *name;
    enum operation_class class;
    _Bool has_size; /* the operation transfers bytes, so it has a size histogram */
};

/* Never NULL for OP_FIRST <= op < OP_COUNT; the names are fixed, they are part of the interface. */
const struct operation_info *operation_info(enum operation op);

/* OP_NONE if no operation has that name. */
enum operation operation_by_name(const char *name);

static inline _Bool operation_is_file(enum operation op)
{
    return op >= OP_FIRST && op < OP_FILE_END;
}

#endif
#endif
