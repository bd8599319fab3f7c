/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs touch of io_uring: the kernel's structures by name, and the program's requests as they are. */
#ifndef UNBLEND_PROBE_URINGTYPES_H
#define UNBLEND_PROBE_URINGTYPES_H

#include "probe/bpf/maps.bpf.h"

#include <bpf/bpf_core_read.h>

/* From the kernel's user API (linux/io_uring.h), which never changes a number. */
struct uring_request {
    __u8 opcode;
    __u8 flags;
    __u16 ioprio;
    __s32 fd;
    __u64 offset; /* addr2 of those without one */
    __u64 address;
    __u32 length;
    __u32 op_flags;
    __u64 user_data;
    __u16 buf_index;
    __u16 personality;
    __s32 slot; /* splice_fd_in of a transfer; of an open and a close, a registered file's place + 1 */
    __u64 address3;
    __u64 reserved;
};

#define SQE_FIXED_FILE       1
#define SQE_SILENT           64 /* IOSQE_CQE_SKIP_SUCCESS */
#define RING_WIDE_REQUESTS   (1U << 10) /* IORING_SETUP_SQE128 */
#define RING_NO_INDICES      (1U << 16) /* IORING_SETUP_NO_SQARRAY */
#define SPLICE_FD_IN_FIXED   (1U << 31)
#define FILE_INDEX_ALLOC     0xffffffffU
#define REGISTERED_FILE_MASK (~7ULL) /* the low bits of a registered file's address are flags */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct io_cqe {
    __u64 user_data;
    __s32 res;
};

struct io_rsrc_node {
    unsigned long file_ptr;
};

struct io_rsrc_data {
    unsigned int nr;
    struct io_rsrc_node **nodes;
};

struct io_file_table {
    struct io_rsrc_data data; /* since 6.13 */
};

/* before: an array of file_ptr, whose length the ring knows */
struct io_file_table___array {
    void *files;
};

struct io_ring_ctx {
    unsigned int flags;
    __u32 *sq_array;
    void *sq_sqes;
    unsigned int cached_sq_head;
    unsigned int sq_entries;
    unsigned int cached_cq_tail;
    struct io_file_table file_table;
};

struct io_ring_ctx___array {
    struct io_file_table___array file_table;
    unsigned int nr_user_files;
};

struct io_kiocb {
    struct file *file;
    __u8 opcode;
    struct io_cqe cqe;
    struct io_ring_ctx *ctx;
};

#pragma clang attribute pop

static __always_inline long result_of_request(__u64 request)
{
    return BPF_CORE_READ((struct io_kiocb *)request, cqe.res);
}

/* Whether a request's memory is still that request's. */
static __always_inline bool is_request(__u64 request, __u64 ring, __u64 tag)
{
    return (__u64)BPF_CORE_READ((struct io_kiocb *)request, ctx) == ring &&
           BPF_CORE_READ((struct io_kiocb *)request, cqe.user_data) == tag;
}

/* The program's request behind one that the kernel has just taken; false when it cannot be told any more. */
static __always_inline bool read_request(struct io_kiocb *request, struct uring_request *out)
{
    struct io_ring_ctx *ring = BPF_CORE_READ(request, ctx);
    __u32 at, flags = BPF_CORE_READ(ring, flags), entries = BPF_CORE_READ(ring, sq_entries);

    at = (BPF_CORE_READ(ring, cached_sq_head) - 1) & (entries - 1);
    if (!(flags & RING_NO_INDICES)) {
        __u32 *indices = BPF_CORE_READ(ring, sq_array);

        if (bpf_probe_read_kernel(&at, sizeof(at), indices + at) || at >= entries)
            return false;
    }
    if (flags & RING_WIDE_REQUESTS)
        at *= 2;
    if (bpf_probe_read_kernel(out, sizeof(*out),
                              BPF_CORE_READ(ring, sq_sqes) + (__u64)at * sizeof(*out)))
        return false;
    return out->opcode == BPF_CORE_READ(request, opcode) &&
           out->user_data == BPF_CORE_READ(request, cqe.user_data);
}

/* The file in a slot of a ring's table; NULL for an empty one. */
static __always_inline struct file *registered_file(struct io_ring_ctx *ring, __u32 slot)
{
    struct io_ring_ctx___array *older = (void *)ring;
    __u64 address = 0;

    if (bpf_core_field_exists(struct io_file_table, data)) {
        struct io_rsrc_node **nodes = BPF_CORE_READ(ring, file_table.data.nodes), *node = NULL;

        if (slot < BPF_CORE_READ(ring, file_table.data.nr))
            bpf_probe_read_kernel(&node, sizeof(node), nodes + slot);
        if (node)
            address = BPF_CORE_READ(node, file_ptr);
    } else if (slot < BPF_CORE_READ(older, nr_user_files)) {
        bpf_probe_read_kernel(&address, sizeof(address),
                              BPF_CORE_READ(older, file_table.files) + slot * sizeof(address));
    }
    return (struct file *)(address & REGISTERED_FILE_MASK);
}

#endif
