/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_uring: from the kernel's taking of a request to its completion, whoever runs it. What is asked for is read from
 * the program's own request; a file that is opened by one request for another to use is known when that one is
 * complete.
 */
#include "probe/bpf/async.bpf.h"
#include "probe/bpf/uringcompletion.bpf.h"

#include <bpf/bpf_tracing.h>

/* --- at the submission --- */

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

    if (!what.op && !config.twice && !control.silent)
        return 0;
    task = bpf_get_current_task_btf();
    state = acting_state(task);
    if (!state)
        state = current_state(task);
    if (!state || is_done(state, (__u64)ring, BPF_CORE_READ(ring, cached_sq_head), again))
        return 0;
    /* The kernel uses the memory of a request again, for whatever: that one's completion was not told. */
    entry = bpf_map_lookup_elem(&async, &key);
    if (entry && entry->ring == (__u64)ring)
        finish(request, &key, entry);
    if (!what.op)
        return 0;
    if (sqe)
        known = !bpf_probe_read_kernel(&asked, sizeof(asked), sqe);
    else
        known = read_request(request, &asked);
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
    if (entry->silent && !control.silent)
        control.silent = 1;
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
