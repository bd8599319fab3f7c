/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs touch of libaio: the kernel's structures by name, the program's requests and completions as they
 * are; and the room that work on them needs.
 */
#ifndef UNBLEND_PROBE_AIOTYPES_H
#define UNBLEND_PROBE_AIOTYPES_H

#include "probe/bpf/async.bpf.h"

#define AIO_LOOK_MAX   65536 /* completions at once; a ring is smaller */
#define AIO_TABLE_MAX  1024  /* contexts of one process */
#define AIO_RING_MAGIC 0xa10a10a1
#define AIO_AGAIN      (-11) /* -EAGAIN: there was no room, and nothing has begun */
#define AIO_COMPAT     256   /* beside enum abi_aio_call: by a 32-bit program */

enum bpf_func_id {
    BPF_FUNC_loop = 181,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kioctx {
    unsigned long user_id;
};

struct kioctx_table {
    unsigned int nr;
    struct kioctx *table[];
};

struct task_struct___memory {
    struct mm_struct *mm;
};

#pragma clang attribute pop

/* From the kernel's user API (linux/aio_abi.h), and the ring that the program sees. */
struct aio_control {
    __u64 data;
    __u32 key;
    __u32 rw_flags;
    __u16 opcode;
    __s16 priority;
    __u32 fd;
    __u64 buffer;
    __u64 bytes;
    __s64 offset;
};

struct aio_event {
    __u64 data;
    __u64 control;
    __s64 result;
    __s64 result2;
};

struct aio_ring {
    __u32 id, entries, head, tail, magic, features, incompatible, header;
};

/* Without it nothing here is called: user space leaves the calls out of its table. */
static __always_inline bool can_loop(void)
{
    return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop);
}

static __always_inline struct mm_struct *memory_of(struct task_struct *task)
{
    return BPF_CORE_READ((struct task_struct___memory *)task, mm);
}

/*
 * --- what is too large for the stack ---
 * The programs of system calls need half of it, record() a quarter. What stands between them is kept small: who works
 * is called from there and has returned when record() is called.
 */

struct look {
    __u64 kernel, now;
    const struct aio_event *events;
    __u64 position; /* where the next completion will come; 0: unknown */
    __u64 first;    /* position of the first that is looked at, */
    __u32 entries;  /* of the ring; 0: these are no ring's, but new */
    __u32 consumed; /* so many of them the program has fetched */
    __u32 done;     /* those before this one need not be looked at again */
    __u32 stuck;
};

struct submission {
    __u64 kernel, controls, now;
    __u64 first; /* of those that were refused, when it is over */
    long error; /* of the first one */
    bool compat;
};

struct scratch_aio {
    struct room room;
    struct look look;
    struct submission submission;
    struct aio_ring ring;
    struct aio_event event;
    struct aio_control control;
    struct abi_aio context;
    struct measure measure;
    __u32 thread, job, tree; /* under which the measure is recorded */
};

ROOMS(scratch_aio, struct scratch_aio);

/* The one that the calling thread has taken. */
static __always_inline struct scratch_aio *scratch_of(void)
{
    __u64 me = bpf_get_current_task();

    return find_room(&scratch_aio, me, me);
}

#endif
