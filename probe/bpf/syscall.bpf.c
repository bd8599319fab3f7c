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
    return enter(regs, number);
}

static __always_inline int leave_and_tidy(struct pt_regs *regs, long result)
{
    const volatile struct abi_syscall *shape = shape_of(number_of(regs));
    bool counts;

    /* Before all else: of what these calls would look at, their thread may have touched nothing for long. */
    if (is_passed_over(shape))
        return 0;
    counts = config.tree_depth && is_in_call();
    leave(shape, regs, result);
    if (counts)
        count_tree(regs, result);
    if (control.crowded)
        forget_spare();
    return 0;
}

SEC("tp_btf/sys_exit")
int on_sys_exit(unsigned long long *context)
{
    return leave_and_tidy((struct pt_regs *)context[0], context[1]);
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
