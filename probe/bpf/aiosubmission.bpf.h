/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libaio's submissions: each request is noted before the call, as it may be completed before that returns; those that
 * were refused are forgotten after it, and the first one's error is told.
 */
#ifndef UNBLEND_PROBE_AIOSUBMISSION_H
#define UNBLEND_PROBE_AIOSUBMISSION_H

#include "probe/bpf/aioring.bpf.h"

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
    struct scratch_aio *scratch = scratch_of();
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
    note_file(entry, file, volume);
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
    struct scratch_aio *scratch = scratch_of();
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

/* What is about to be, or was, submitted: so many requests, from `first` on. */
static __always_inline __u32 describe_submission(__u32 call, __u64 id, __u64 number, __u64 controls, long result)
{
    struct scratch_aio *scratch = scratch_of();
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

#endif
