/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other places where a system call can be watched; enter() and leave() are the same everywhere. Part of the first
 * object, of which only the programs of the chosen flavour are loaded.
 */
#ifndef UNBLEND_PROBE_FLAVOUR_BPF_H
#define UNBLEND_PROBE_FLAVOUR_BPF_H

#include "probe/bpf/call.bpf.h"

static __always_inline struct pt_regs *own_registers(void)
{
    return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

/* --- kprobes on all functions behind the calls at once: dear, and never preempted --- */

SEC("kprobe.multi")
int on_call_enter(void *context)
{
    return enter(own_registers());
}

SEC("kretprobe.multi")
int on_call_exit(struct pt_regs *context)
{
    return leave(own_registers(), result_of(context));
}

/* --- tracepoint/syscalls: one event a call, so that other calls pay next to nothing --- */

/* include/trace/events/syscalls.h as perf hands it to programs; nothing behind it may be read, for calls without arguments. */
struct traced_exit {
    __u64 reserved;
    long number;
    long result;
};

SEC("tracepoint")
int on_trace_enter(void *context)
{
    return enter(own_registers());
}

SEC("tracepoint")
int on_trace_exit(struct traced_exit *context)
{
    return leave(own_registers(), context->result);
}

/*
 * --- fentry and fexit on the functions behind the calls: each needs a program of its own, and a hundred copies of
 * enter() would take the verifier minutes. So each function gets a stub, and the stubs jump to one program. ---
 */

struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(__u32));
    __uint(value_size, sizeof(__u32));
} jump_enter SEC(".maps"), jump_exit SEC(".maps");

SEC("fentry")
int on_function_enter(void *context)
{
    return enter(own_registers());
}

SEC("fexit")
int on_function_exit(__u64 *context)
{
    return leave(own_registers(), context[1]); /* behind the only argument */
}

SEC("fentry")
int on_stub_enter(void *context)
{
    bpf_tail_call(context, &jump_enter, 0);
    return 0;
}

SEC("fexit")
int on_stub_exit(void *context)
{
    bpf_tail_call(context, &jump_exit, 0);
    return 0;
}

#endif
