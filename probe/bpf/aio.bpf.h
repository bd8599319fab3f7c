/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libaio. io_submit() notes each request; it is accounted when its completion is seen: in what io_getevents() returns,
 * and in the ring of completions, which lies in the program's memory and from which a program may fetch them without a
 * call. The ring is looked at whenever the program calls; none is overwritten before the next io_submit(). Pages of
 * the ring that cannot be read are such as the program has never touched, so nothing was fetched from there unseen.
 */
#ifndef UNBLEND_PROBE_AIO_H
#define UNBLEND_PROBE_AIO_H

#include "probe/bpf/async.bpf.h"

#define AIO_LOOK_MAX   65536 /* completions at once; a ring is smaller */
#define AIO_TABLE_MAX  1024  /* contexts of one process */
#define AIO_RING_MAGIC 0xa10a10a1
#define AIO_AGAIN      (-11) /* -EAGAIN: there was no room, and nothing has begun */

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

struct mm_struct {
    struct kioctx_table *ioctx_table;
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

/* --- contexts --- */

struct find {
    __u64 first; /* of the table's pointers */
    __u64 id;
    __u64 found;
};

static long match_context(__u32 index, void *data)
{
    struct find *find = data;
    struct kioctx *context = NULL;

    bpf_probe_read_kernel(&context, sizeof(context), (void *)(find->first + index * sizeof(context)));
    if (!context || BPF_CORE_READ(context, user_id) != find->id)
        return 0;
    find->found = (__u64)context;
    return 1;
}

/* The kernel's side of a context; 0 when there is none. */
static __always_inline __u64 find_context(struct mm_struct *memory, __u64 id)
{
    struct kioctx_table *table = BPF_CORE_READ(memory, ioctx_table);
    struct find find = {.first = (__u64)table + bpf_core_field_offset(struct kioctx_table, table), .id = id};
    __u32 entries = table ? BPF_CORE_READ(table, nr) : 0;

    bpf_loop(entries > AIO_TABLE_MAX ? AIO_TABLE_MAX : entries, match_context, &find, 0);
    return find.found;
}

static __always_inline struct abi_aio *context_of(__u64 id, bool born)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_aio_key key = {.memory = (__u64)memory_of(task), .id = id};
    struct abi_aio *context = born ? NULL : bpf_map_lookup_elem(&aio_contexts, &key);
    struct abi_aio fresh = {.tgid = task->tgid};

    if (context && context->tgid == fresh.tgid)
        return context;
    fresh.kernel = find_context((struct mm_struct *)key.memory, id);
    fresh.known = born;
    if (!fresh.kernel)
        return NULL;
    bpf_map_update_elem(&aio_contexts, &key, &fresh, BPF_ANY);
    return bpf_map_lookup_elem(&aio_contexts, &key);
}

/* --- completions --- */

/* A completion at that position of the ring; UINT64_MAX: it is new for certain. */
static __always_inline void complete(__u64 kernel, const struct aio_event *event, __u64 position, __u64 now)
{
    struct abi_async_key key = {.owner = kernel, .request = event->control};
    struct abi_async *entry = bpf_map_lookup_elem(&async, &key);

    if (!entry || position < entry->tag || !take(entry))
        return;
    account_result(entry, entry->op, entry->volume, event->result, now);
    bpf_map_delete_elem(&async, &key);
}

struct look {
    __u64 kernel, now;
    const struct aio_event *events;
    __u64 first;    /* position of the first that is looked at, */
    __u32 entries;  /* of the ring; 0: these are no ring's, but new */
    __u32 consumed; /* so many of them the program has fetched */
    __u32 done;     /* those before this one need not be looked at again */
    __u32 stuck;
};

static long look_at_event(__u32 index, void *data)
{
    struct look *look = data;
    struct aio_event event;
    __u64 at = index, position = UINT64_MAX;

    if (look->entries) {
        position = look->first + index;
        at = position % look->entries;
    }
    if (bpf_probe_read_user(&event, sizeof(event), look->events + at)) {
        look->stuck = look->stuck || index >= look->consumed;
        return 0;
    }
    complete(look->kernel, &event, position, look->now);
    if (!look->stuck)
        look->done = index + 1;
    return 0;
}

/* Looks at what has come into the ring since last time; the position where the next one will come, 0 when unknown. */
static __always_inline __u64 look_at_ring(struct abi_aio *context, __u64 id)
{
    struct look look = {.kernel = context->kernel, .now = bpf_ktime_get_ns()};
    struct aio_ring ring;
    __u32 at, pending;

    if (bpf_probe_read_user(&ring, sizeof(ring), (const void *)id) || ring.magic != AIO_RING_MAGIC ||
        !ring.entries || ring.tail >= ring.entries)
        return 0;
    if (!context->readable) {
        context->seen = context->known ? context->reaped : ring.tail;
        context->readable = 1;
    }
    look.first = context->seen;
    look.entries = ring.entries;
    look.events = (const void *)(id + sizeof(ring));
    at = look.first % ring.entries;
    pending = (ring.tail + ring.entries - at) % ring.entries;
    look.consumed = (ring.head + ring.entries - at) % ring.entries;
    if (look.consumed > pending)
        look.consumed = 0;
    bpf_loop(pending > AIO_LOOK_MAX ? AIO_LOOK_MAX : pending, look_at_event, &look, 0);
    if (look.first + look.done > context->seen)
        context->seen = look.first + look.done;
    return look.first + pending;
}

/* What io_getevents() has put into the program's array. */
static __always_inline void look_at_events(struct abi_aio *context, __u64 events, long fetched)
{
    struct look look = {
        .kernel = context->kernel, .now = bpf_ktime_get_ns(), .events = (const void *)events};

    bpf_loop(fetched > AIO_LOOK_MAX ? AIO_LOOK_MAX : fetched, look_at_event, &look, 0);
    if (!context->readable)
        __sync_fetch_and_add(&context->reaped, fetched);
}

/* --- submissions --- */

struct submission {
    __u64 kernel, controls, position, now;
    __u64 first; /* of those that were refused, when it is over */
    long error; /* of the first one */
    bool compat;
};

static __always_inline __u64 control_at(const struct submission *submission, __u32 index)
{
    __u64 control = 0;
    __u32 size = submission->compat ? sizeof(__u32) : sizeof(__u64);

    bpf_probe_read_user(&control, size, (const void *)(submission->controls + (__u64)index * size));
    return control;
}

static __always_inline __u32 aio_operation(__u16 opcode)
{
    switch (opcode) {
    case 0: /* IOCB_CMD_PREAD */
    case 7: /* IOCB_CMD_PREADV */
        return OP_READ;
    case 1: /* IOCB_CMD_PWRITE */
    case 8: /* IOCB_CMD_PWRITEV */
        return OP_WRITE;
    case 2: /* IOCB_CMD_FSYNC */
    case 3: /* IOCB_CMD_FDSYNC */
        return OP_FSYNC;
    }
    return OP_NONE;
}

static long note_control(__u32 index, void *data)
{
    struct submission *submission = data;
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    struct abi_async_key key = {.owner = submission->kernel,
                                .request = control_at(submission, index)};
    struct abi_async entry = {.start_ns = submission->now,
                              .tag = submission->position,
                              .ring = submission->kernel};
    struct aio_control control;
    struct file *file;

    if (!state || bpf_probe_read_user(&control, sizeof(control), (const void *)key.request))
        return 1;
    entry.op = aio_operation(control.opcode);
    file = entry.op ? file_of(task, (int)control.fd) : NULL;
    entry.volume = file ? volume_of_file(file) : ABI_VOLUME_NONE;
    if (entry.volume == ABI_VOLUME_NONE)
        return 0;
    if (entry.op != OP_FSYNC) {
        __u64 bytes = control.bytes;

        if (control.opcode > 3)
            bytes = submission->compat ? 0 : bytes_asked(control.buffer, control.bytes);
        entry.order = order_asked(file, control.offset, bytes);
    }
    note(&key, &entry, state, task);
    return 0;
}

/* Only the first one's error is told, and only when none was taken; the others have not begun. */
static long forget_control(__u32 index, void *data)
{
    struct submission *submission = data;
    struct abi_async_key key = {.owner = submission->kernel,
                                .request = control_at(submission, submission->first + index)};
    struct abi_async *entry = bpf_map_lookup_elem(&async, &key);

    if (!entry || !take(entry))
        return 0;
    if (!index && submission->error)
        account_result(entry, entry->op, entry->volume, submission->error, submission->now);
    bpf_map_delete_elem(&async, &key);
    return 0;
}

/* --- ends --- */

static long look_a_last_time(void *map, const struct abi_aio_key *key, struct abi_aio *context, __u32 *tgid)
{
    if (context->tgid == *tgid)
        look_at_ring(context, key->id);
    return 0;
}

/* --- calls --- */

#define AIO_COMPAT 256 /* beside enum abi_aio_call: by a 32-bit program */

/* Before a call. Global, as the next one, so that the verifier looks at it once. */
__noinline int aio_enter(__u32 call, __u64 id, __u64 number, __u64 controls)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    struct submission submission = {.controls = controls, .compat = call & AIO_COMPAT};
    struct abi_aio *context;
    __u32 tgid = task->tgid;

    if (!can_loop() || !state)
        return 0;
    switch (call & ~AIO_COMPAT) {
    case ABI_AIO_EXIT:
        if (state->async == ABI_USES_AIO)
            bpf_for_each_map_elem(&aio_contexts, look_a_last_time, &tgid, 0);
        return 0;
    case ABI_AIO_DESTROY:
        context = context_of(id, false);
        if (context)
            look_at_ring(context, id);
        return 0;
    case ABI_AIO_SUBMIT:
        context = context_of(id, false);
        if (!context || (long)number <= 0)
            return 0;
        join_users(state, tgid, ABI_USES_AIO);
        submission.kernel = context->kernel;
        submission.position = look_at_ring(context, id);
        submission.now = bpf_ktime_get_ns();
        bpf_loop(number > AIO_LOOK_MAX ? AIO_LOOK_MAX : number, note_control, &submission, 0);
        if (number > AIO_LOOK_MAX)
            count(ABI_COUNTER_LOST, number - AIO_LOOK_MAX);
        return 0;
    }
    return 0;
}

/* And after it. number, address: of what it submits, or where it puts what it returns. */
__noinline int aio_leave(__u32 call, __u64 id, __u64 number, __u64 address, long result)
{
    struct submission submission = {.controls = address, .compat = call & AIO_COMPAT};
    struct abi_aio_key key = {.id = id};
    struct abi_aio *context;

    if (!can_loop())
        return 0;
    switch (call & ~AIO_COMPAT) {
    case ABI_AIO_SETUP:
        id = 0;
        bpf_probe_read_user(&id, submission.compat ? sizeof(__u32) : sizeof(__u64),
                            (const void *)address);
        if (!result)
            context_of(id, true);
        return 0;
    case ABI_AIO_SUBMIT:
        context = context_of(id, false);
        if (!context || (long)number <= 0)
            return 0;
        submission.kernel = context->kernel;
        submission.now = bpf_ktime_get_ns();
        if (result < 0 && result != AIO_AGAIN)
            submission.error = result;
        if (result > 0)
            submission.first = result;
        if (number > submission.first)
            bpf_loop(number - submission.first > AIO_LOOK_MAX ? AIO_LOOK_MAX
                                                              : number - submission.first,
                     forget_control, &submission, 0);
        look_at_ring(context, id);
        return 0;
    case ABI_AIO_GETEVENTS:
        context = context_of(id, false);
        if (!context)
            return 0;
        if (result > 0)
            look_at_events(context, address, result);
        look_at_ring(context, id);
        return 0;
    case ABI_AIO_DESTROY:
        key.memory = (__u64)memory_of(bpf_get_current_task_btf());
        context = result ? NULL : bpf_map_lookup_elem(&aio_contexts, &key);
        if (!context)
            return 0;
        remove_async(context->kernel, 0);
        bpf_map_delete_elem(&aio_contexts, &key);
        return 0;
    }
    return 0;
}

static long forget_context(void *map, const struct abi_aio_key *key, struct abi_aio *context, __u32 *tgid)
{
    if (context->tgid == *tgid)
        bpf_map_delete_elem(map, key);
    return 0;
}

/* The last thread of a process exits. It has its memory still, or not, as the kernel likes. */
__noinline int async_end(__u32 tgid)
{
    __u32 *uses = bpf_map_lookup_elem(&async_users, &tgid);

    if (!can_loop() || !uses)
        return 0;
    if (*uses == ABI_USES_AIO) {
        bpf_for_each_map_elem(&aio_contexts, look_a_last_time, &tgid, 0);
        bpf_for_each_map_elem(&aio_contexts, forget_context, &tgid, 0);
    }
    remove_async(0, tgid);
    bpf_map_delete_elem(&async_users, &tgid);
    return 0;
}

#endif
