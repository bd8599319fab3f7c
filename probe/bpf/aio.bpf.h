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

struct aio_scratch {
    struct look look;
    struct submission submission;
    struct aio_ring ring;
    struct aio_event event;
    struct aio_control control;
    struct abi_aio context;
    struct measure measure;
    __u32 thread, job, tree; /* under which the measure is recorded */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct aio_scratch);
} aio_scratch SEC(".maps");

static __always_inline struct aio_scratch *scratch_of(void)
{
    __u32 zero = 0;

    return bpf_map_lookup_elem(&aio_scratch, &zero);
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
    struct aio_scratch *scratch = scratch_of();
    __u64 kernel;

    if (!scratch || (context && context->tgid == (__u32)task->tgid))
        return context;
    kernel = find_context((struct mm_struct *)key.memory, id);
    if (!kernel)
        return NULL;
    __builtin_memset(&scratch->context, 0, sizeof(scratch->context));
    scratch->context.kernel = kernel;
    scratch->context.tgid = task->tgid;
    scratch->context.known = born;
    bpf_map_update_elem(&aio_contexts, &key, &scratch->context, BPF_ANY);
    return bpf_map_lookup_elem(&aio_contexts, &key);
}

/* --- completions --- */

/* Whoever has set the measure is done; it is recorded. */
static __always_inline void record_measured(void)
{
    struct aio_scratch *scratch = scratch_of();

    if (!scratch)
        return;
    record(&scratch->measure, scratch->thread, scratch->job);
    count_measured(scratch->tree, &scratch->measure);
}

/* True when the entry was there to be taken and is measured; it is gone then. */
static __always_inline bool measure_entry(struct aio_scratch *scratch, const struct abi_async_key *key,
                                          struct abi_async *entry, long result, __u64 now)
{
    if (!take(entry))
        return false;
    if (is_stale(entry)) {
        bpf_map_delete_elem(&async, key);
        return false;
    }
    measure_result(&scratch->measure, entry, entry->op, entry->volume, result);
    scratch->thread = place(entry, &scratch->measure, now);
    scratch->job = entry->job;
    scratch->tree = entry->tree;
    bpf_map_delete_elem(&async, key);
    return true;
}

/* A completion at a position of the ring, or a new one in an array: 1 when it is measured. */
__noinline int measure_event(__u32 index)
{
    struct aio_scratch *scratch = scratch_of();
    __u64 at = index, position = UINT64_MAX;
    struct abi_async_key key = {};
    struct abi_async *entry;
    struct look *look;

    if (!scratch)
        return 0;
    look = &scratch->look;
    if (look->entries) {
        position = look->first + index;
        at = position % look->entries;
    }
    if (bpf_probe_read_user(&scratch->event, sizeof(scratch->event), look->events + at)) {
        look->stuck = look->stuck || index >= look->consumed;
        return 0;
    }
    if (!look->stuck)
        look->done = index + 1;
    key.owner = look->kernel;
    key.request = scratch->event.control;
    entry = bpf_map_lookup_elem(&async, &key);
    /* What lies in the ring from before the request was submitted is about an older one. */
    return entry && position >= entry->tag &&
           measure_entry(scratch, &key, entry, scratch->event.result, look->now);
}

static long look_at_event(__u32 index, void *unused)
{
    if (measure_event(index) > 0)
        record_measured();
    return 0;
}

static __always_inline __u32 at_once(__u64 number)
{
    return number > AIO_LOOK_MAX ? AIO_LOOK_MAX : number;
}

/* How many completions have come into the ring since it was looked at; where the next one will come is `position`. */
__noinline __u32 begin_look(__u64 memory, __u64 id)
{
    struct abi_aio_key key = {.memory = memory, .id = id};
    struct abi_aio *context = bpf_map_lookup_elem(&aio_contexts, &key);
    struct aio_scratch *scratch = scratch_of();
    const struct aio_ring *ring;
    __u32 at, pending, entries;
    struct look *look;

    if (!scratch || !context)
        return 0;
    ring = &scratch->ring;
    look = &scratch->look;
    look->done = look->stuck = 0;
    look->position = 0;
    if (bpf_probe_read_user(&scratch->ring, sizeof(scratch->ring), (const void *)id))
        return 0;
    entries = ring->entries;
    if (ring->magic != AIO_RING_MAGIC || !entries || ring->tail >= entries)
        return 0;
    if (!context->readable) {
        context->seen = context->known ? context->reaped : ring->tail;
        context->readable = 1;
    }
    look->first = context->seen;
    look->entries = entries;
    at = look->first % entries;
    pending = (ring->tail + entries - at) % entries;
    look->position = look->first + pending;
    look->kernel = context->kernel;
    look->now = bpf_ktime_get_ns();
    look->events = (const void *)(id + sizeof(*ring));
    look->consumed = (ring->head + entries - at) % entries;
    if (look->consumed > pending)
        look->consumed = 0;
    return at_once(pending);
}

__noinline int end_look(__u64 memory, __u64 id)
{
    struct abi_aio_key key = {.memory = memory, .id = id};
    struct abi_aio *context = bpf_map_lookup_elem(&aio_contexts, &key);
    struct aio_scratch *scratch = scratch_of();

    if (scratch && context && scratch->look.first + scratch->look.done > context->seen)
        context->seen = scratch->look.first + scratch->look.done;
    return 0;
}

static __always_inline void look_at_ring(__u64 memory, __u64 id)
{
    __u32 pending = begin_look(memory, id);

    if (!pending)
        return;
    bpf_loop(pending, look_at_event, NULL, 0);
    end_look(memory, id);
}

/* --- submissions --- */

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

static long note_control(__u32 index, void *unused)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = known_state(task);
    struct aio_scratch *scratch = scratch_of();
    struct abi_async_key key = {};
    struct aio_control *asked;
    struct abi_async *entry;
    struct file *file;
    __u64 volume;
    __u32 op;

    if (!state || !scratch)
        return 1;
    asked = &scratch->control;
    key.owner = scratch->submission.kernel;
    key.request = control_at(&scratch->submission, index);
    if (bpf_probe_read_user(asked, sizeof(*asked), (const void *)key.request))
        return 1;
    op = aio_operation(asked->opcode);
    file = op && !(control.shed >> op & 1) ? file_of(task, (int)asked->fd) : NULL;
    volume = file ? volume_of_file(file) : ABI_VOLUME_NONE;
    if (volume == ABI_VOLUME_NONE)
        return 0;
    entry = note(&key, state, task);
    if (!entry)
        return 0;
    entry->start_ns = scratch->submission.now;
    entry->tag = scratch->look.position;
    entry->ring = scratch->submission.kernel;
    entry->volume = volume;
    entry->tree = tree_asked(file, volume, entry->process);
    if (op != OP_FSYNC) {
        if (asked->opcode > 3)
            asked->bytes = scratch->submission.compat ? 0 : bytes_asked(asked->buffer, asked->bytes);
        entry->order = order_asked(file, asked->offset, asked->bytes);
    }
    entry->op = op;
    return 0;
}

/* Only the first one's error is told, and only when none was taken; the others have not begun. */
__noinline int measure_refused(__u32 index)
{
    struct aio_scratch *scratch = scratch_of();
    struct submission *submission;
    struct abi_async_key key = {};
    struct abi_async *entry;

    if (!scratch)
        return 0;
    submission = &scratch->submission;
    key.owner = submission->kernel;
    key.request = control_at(submission, submission->first + index);
    entry = bpf_map_lookup_elem(&async, &key);
    return entry && measure_entry(scratch, &key, entry, submission->error, submission->now) && !index &&
           submission->error;
}

static long forget_control(__u32 index, void *unused)
{
    if (measure_refused(index) > 0)
        record_measured();
    return 0;
}

/* --- ends --- */

static long look_a_last_time(void *map, const struct abi_aio_key *key, struct abi_aio *context, __u32 *tgid)
{
    if (context->tgid == *tgid)
        look_at_ring(key->memory, key->id);
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
    remove_process(tgid);
    bpf_map_delete_elem(&async_users, &tgid);
    return 0;
}

/* What was under way when the context was destroyed: nobody learns its result. */
static long remove_of_context(void *map, const struct abi_async_key *key, struct abi_async *entry, __u64 *kernel)
{
    if (key->owner != *kernel)
        return 0;
    if (take(entry) && !is_stale(entry))
        count(ABI_COUNTER_KILLED, 1);
    bpf_map_delete_elem(map, key);
    return 0;
}

__noinline int destroy_context(__u64 memory, __u64 id)
{
    struct abi_aio_key key = {.memory = memory, .id = id};
    struct abi_aio *context = bpf_map_lookup_elem(&aio_contexts, &key);
    __u64 kernel = context ? context->kernel : 0;

    if (!kernel)
        return 0;
    bpf_for_each_map_elem(&async, remove_of_context, &kernel, 0);
    bpf_map_delete_elem(&aio_contexts, &key);
    return 0;
}

/* --- calls --- */

#define AIO_COMPAT 256 /* beside enum abi_aio_call: by a 32-bit program */

/* What is about to be, or was, submitted: so many requests, from `first` on. */
static __always_inline __u32 describe_submission(__u32 call, __u64 id, __u64 number, __u64 controls, long result)
{
    struct aio_scratch *scratch = scratch_of();
    struct abi_aio *context = context_of(id, false);
    __u64 taken = result > 0 ? result : 0;

    if (!scratch || !context || (long)number <= 0 || number <= taken)
        return 0;
    scratch->submission.kernel = context->kernel;
    scratch->submission.controls = controls;
    scratch->submission.compat = call & AIO_COMPAT;
    scratch->submission.now = bpf_ktime_get_ns();
    scratch->submission.first = taken;
    scratch->submission.error = result < 0 && result != AIO_AGAIN ? result : 0;
    if (number - taken > AIO_LOOK_MAX)
        count(ABI_COUNTER_LOST, number - taken - AIO_LOOK_MAX);
    return at_once(number - taken);
}

__noinline __u32 begin_submission(__u32 call, __u64 id, __u64 number, __u64 controls)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = known_state(task);

    if (!state)
        return 0;
    join_users(state, task->tgid, ABI_USES_AIO);
    return describe_submission(call, id, number, controls, 0);
}

/* After a call: how many requests were refused, or how many completions are in the program's array. */
__noinline __u32 begin_leave(__u32 call, __u64 id, __u64 number, __u64 address, long result)
{
    struct aio_scratch *scratch = scratch_of();
    struct abi_aio *context;

    switch (call & ~AIO_COMPAT) {
    case ABI_AIO_SETUP:
        id = 0;
        bpf_probe_read_user(&id, call & AIO_COMPAT ? sizeof(__u32) : sizeof(__u64), (const void *)address);
        if (!result)
            context_of(id, true);
        return 0;
    case ABI_AIO_SUBMIT:
        return describe_submission(call, id, number, address, result);
    case ABI_AIO_GETEVENTS:
        context = result > 0 ? context_of(id, false) : NULL;
        if (!context || !scratch)
            return 0;
        scratch->look.kernel = context->kernel;
        scratch->look.now = bpf_ktime_get_ns();
        scratch->look.events = (const void *)address;
        scratch->look.entries = scratch->look.done = scratch->look.stuck = 0;
        if (!context->readable)
            __sync_fetch_and_add(&context->reaped, result);
        return at_once(result);
    }
    return 0;
}

/* Before a call. Global, as the next one, so that the verifier looks at it once. */
__noinline int aio_enter(__u32 call, __u64 id, __u64 number, __u64 controls)
{
    struct task_struct *task = bpf_get_current_task_btf();
    __u32 tgid = task->tgid, requests;

    if (!can_loop())
        return 0;
    switch (call & ~AIO_COMPAT) {
    case ABI_AIO_EXIT:
        if (bpf_map_lookup_elem(&async_users, &tgid))
            bpf_for_each_map_elem(&aio_contexts, look_a_last_time, &tgid, 0);
        break;
    case ABI_AIO_DESTROY:
        look_at_ring((__u64)memory_of(task), id);
        break;
    case ABI_AIO_SUBMIT:
        requests = begin_submission(call, id, number, controls);
        if (!requests)
            break;
        look_at_ring((__u64)memory_of(task), id);
        bpf_loop(requests, note_control, NULL, 0);
        break;
    }
    return 0;
}

/* And after it. number, address: of what it submits, or where it puts what it returns. */
__noinline int aio_leave(__u32 call, __u64 id, __u64 number, __u64 address, long result)
{
    __u64 memory = (__u64)memory_of(bpf_get_current_task_btf());
    __u32 events;

    if (!can_loop())
        return 0;
    events = begin_leave(call, id, number, address, result);
    switch (call & ~AIO_COMPAT) {
    case ABI_AIO_SUBMIT:
        if (events)
            bpf_loop(events, forget_control, NULL, 0);
        look_at_ring(memory, id);
        break;
    case ABI_AIO_GETEVENTS:
        if (events)
            bpf_loop(events, look_at_event, NULL, 0);
        look_at_ring(memory, id);
        break;
    case ABI_AIO_DESTROY:
        if (!result)
            destroy_context(memory, id);
        break;
    }
    return 0;
}

#endif
