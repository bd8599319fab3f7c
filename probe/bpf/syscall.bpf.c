/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: from sys_enter, where the clock starts, to sys_exit, where the operation is counted. */
#include "probe/bpf/leave.bpf.h"
#include "probe/bpf/life.bpf.h"
#include "probe/bpf/treecall.bpf.h"

#include <bpf/bpf_tracing.h>

/* Not inlined, for the stack's sake: see enter_any(). */
static __noinline int forget_spare(void)
{
    drop_spare(bpf_get_current_task_btf());
    return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long number)
{
    return enter(regs);
}

/*
 * The end of most calls: those that began as a quick one, did not fail, and the like of which was counted before. Nothing
 * is counted until it is certain that all of it can be counted here. It took so little time that it has begun since
 * control.since_ns: to stop watching and to begin again takes longer.
 *
 * As in enter(), what is rarer stands behind. Where trees are told, a call that was counted leaves its volume and its
 * latency in pending_volume and pending_ns.
 */
static __always_inline int leave(struct pt_regs *regs, long result)
{
    const volatile struct abi_syscall *shape;
    __u64 number = number_of(regs), now, latency_ns;
    __u32 kind, order, writes, *index, *cell;
    struct abi_thread *thread;
    struct abi_file *mine;
    struct abi_row *row;
    bool known, counts;

    /* Calls that never count before all else: of what these would look at, their thread may have touched nothing for long. */
    if (number >= ABI_SYSCALLS)
        goto stray;
    shape = entry_of(number);
    kind = shape->shape;
    if (!shape->op || kind == ABI_SHAPE_FCNTL)
        goto other;
may_count:
    /* Before anything is looked up: reading the clock waits for what has begun before it. */
    now = bpf_ktime_get_ns();
    thread = running_thread(regs);
    if (!thread)
        goto stranger;
familiar:
    if (thread->quick != mark_of(number_of(regs), false))
        goto not_quick;
    if (result < 0)
        goto any;
    latency_ns = now - thread->pending_ns;
    barrier_var(latency_ns); /* takes the place of now, as one more value would take a stack of its own */
    if (!is_short(latency_ns))
        goto unlike;
    order = ABI_ORDER_UNKNOWN;
    if (thread->pending_op > OP_WRITE)
        goto plain;
    writes = is_write(thread->pending_op);
    mine = file_at(thread, thread->quick_place);
    barrier_var(mine);
    if (!writes && (mine->uncached || thread->missed))
        goto unlike;
    index = &mine->row[writes];
    if (mine->size != ABI_SIZE_KEY(result, writes))
        goto other_size;
    goto count;
plain:
    if (thread->quick_place == ABI_BY_PATH) {
        if (kind != ABI_SHAPE_STAT && kind != ABI_SHAPE_STATX)
            goto by_path;
        order = leave_stat(shape, regs, thread);
    } else if (thread->pending_op == OP_STAT) {
        order = ABI_OF_OPEN | file_size_at(thread, thread->quick_place);
    } else if (operation_tells_file_size(thread->pending_op)) {
        order = kind_at(thread, thread->quick_place);
    }
    index = &thread->head[thread->pending_op & (ABI_HEADS - 1)];
count:
    row = quick_row(index, thread->pending_ns + latency_ns);
    if (!row || row->volume != thread->pending_volume)
        goto unlike;
    cell = short_latency_of(row, latency_ns);
    if (!cell)
        goto unlike;
    *cell += 1;
    row->latency_sum_ns += latency_ns;
    if (thread->pending_op <= OP_WRITE)
        goto transfer;
    if (order)
        row->order[order & (ABI_ORDERS - 1)] += 1;
    row->touched += 1;
counted:
    thread->quick = thread->pending_op = 0;
    if (config.tree_depth)
        goto tree;
    END_HERE();
    return 0;
transfer:
    mine = file_at(thread, thread->quick_place);
    cell = bucket_in(&mine->size_page, mine->size_bucket);
    if (cell)
        *cell += 1;
    if (result && !control.no_order)
        order = order_of(mine, start_of(shape, regs, false, mine->file, result), result);
    row->bytes += result;
    row->order[order & (ABI_ORDERS - 1)] += 1;
    row->touched += 1;
    if (is_jump(order))
        count_jump(mine, row, result);
    goto counted;

other:
    if (shape->compat && (shape->op || is_compat(bpf_get_current_task_btf())))
        goto may_count;
    return 0;
other_size:
    if (learn_size(thread, result))
        goto count;
    goto unlike;
by_path:
    if (kind == ABI_SHAPE_OPEN && leave_open(shape, regs, thread, result, latency_ns))
        goto counted;
unlike:
    now = thread->pending_ns + latency_ns;
any:
    if (thread->pending_ns >= control.since_ns)
        goto closely;
    thread->quick = thread->pending_op = 0;
    return 0;
stranger:
    thread = next_thread(regs, &known);
    if (thread)
        goto familiar;
    if (!known && !control.crowded)
        return 0;
    goto slow;
not_quick: /* nothing is in flight where the call was about a pipe or a socket */
    if (!thread->quick && !is_special(shape))
        return 0;
slow:
    if (!take_slow_call(regs, result))
        goto tidy;
closely:
    counts = config.tree_depth && is_in_call();
    leave_any(regs, result, now);
    if (counts)
        goto told;
tidy:
    if (control.crowded)
        forget_spare();
    return 0;
tree:
    thread->pending_ns = latency_ns;
told:
    count_tree(regs, result);
    goto tidy;
stray:
    if (result == -EINTR)
        leave_handler();
    return 0;
}

SEC("tp_btf/sys_exit")
int on_sys_exit(unsigned long long *context)
{
    return leave((struct pt_regs *)context[0], context[1]);
}

/* The same at other places, for kernels and loads where those are better. */
#include "probe/bpf/flavour.bpf.h"

#include "probe/bpf/search.bpf.h"

/* --- the drain's helpers: push free indices on a stack, faster than a system call for each --- */

struct fill {
    __u64 table; /* enum abi_table */
    __u64 first;
    __u64 end; /* one past the last; pushed from there downwards, ABI_FILL at most */
};

static __always_inline void push_free(__u64 table, __u32 index)
{
    switch (table) {
    case ABI_TABLE_ROWS:
        bpf_map_push_elem(&free_rows, &index, BPF_ANY);
        break;
    case ABI_TABLE_PAGES:
        bpf_map_push_elem(&free_pages, &index, BPF_ANY);
        break;
    case ABI_TABLE_THREADS:
        bpf_map_push_elem(&free_threads, &index, BPF_ANY);
        break;
    case ABI_TABLE_PROCESSES:
        bpf_map_push_elem(&free_processes, &index, BPF_ANY);
        break;
    }
}

SEC("raw_tp/sys_enter")
int on_fill(struct fill *context)
{
    __u64 table = context->table, first = context->first, end = context->end;

    for (int i = 0; i < ABI_FILL; i++) {
        if (end <= first)
            break;
        push_free(table, --end);
    }
    return 0;
}

/* Those that stand in `returned`, from its beginning to end. */
SEC("raw_tp/sys_enter")
int on_return(struct fill *context)
{
    __u64 table = context->table, end = context->end;

    for (__u32 i = 0; i < ABI_RETURN; i++) {
        if (i >= end)
            break;
        push_free(table, returned[i & (ABI_RETURN - 1)]);
    }
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
