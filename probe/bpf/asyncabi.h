/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations of io_uring and of libaio. Part of the ABI of probe/bpf/abi.h. */
#ifndef UNBLEND_PROBE_ASYNCABI_H
#define UNBLEND_PROBE_ASYNCABI_H

#include "probe/bpf/abi.h"

/*
 * An operation that its program does not wait for: a request of io_uring or of libaio, from its submission to
 * its completion.
 */
struct abi_async_key {
    uint64_t owner;   /* libaio: the kernel's context (struct kioctx); io_uring: 0 */
    uint64_t request; /* libaio: the program's control block; io_uring: the kernel's request */
};

struct abi_async {
    uint64_t start_ns;
    uint64_t done_ns;  /* when the kernel completed it, where that is known before it is seen; 0 */
    uint64_t volume;   /* as far as it is known before the operation runs */
    uint64_t volume2;  /* the writing side of a transfer */
    uint64_t ring;     /* the kernel's context or ring, */
    uint64_t tag;      /* and libaio: completions before this position are older; io_uring: user_data */
    uint64_t path;     /* in the program's memory, as is */
    union {
        uint64_t argument; /* what statx() fills; the flags of an open */
        uint32_t tree2;    /* as tree, of volume2 */
    };
    uint32_t process, job, tgid;
    uint32_t tree; /* as in abi_file */
    int32_t directory;
    uint32_t slot; /* of a file registered with the ring, + 1 */
    uint8_t op;
    uint8_t order;  /* enum abi_order, or of a stat its place there */
    uint8_t opcode; /* io_uring's */
    uint8_t silent : 1;   /* its success is not told to the program */
    uint8_t unplaced : 1; /* the file's own offset is used, which is known afterwards */
    uint8_t file_size : 2; /* enum abi_file_size */
    uint32_t taken;  /* accounted, by whoever set it */
};

/* A context of libaio; the key is the memory it belongs to and its number there. */
struct abi_aio_key {
    uint64_t memory;
    uint64_t id;
};

struct abi_aio {
    uint64_t kernel; /* struct kioctx */
    uint64_t seen;   /* completions looked at: a position in the ring, counted from its birth */
    uint64_t reaped; /* completions fetched before the ring could be read */
    uint32_t tgid;
    uint16_t readable;
    uint16_t known; /* from its birth */
};

/* Through what a process has submitted requests; each includes the one before. */
enum abi_async_user { ABI_USES_RINGS = 1, ABI_USES_AIO };

/* A slot of a ring's table of files: what was last opened into it. */
struct abi_slot_key {
    uint64_t ring;
    uint64_t slot;
};

#endif
