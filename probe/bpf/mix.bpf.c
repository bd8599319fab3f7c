/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many of the machine's system calls would be counted, and how many would only pay for the hook. */
#include "probe/bpf/kernel.bpf.h"
#include "probe/bpf/configabi.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* By number; set before loading. */
const volatile __u8 counted[ABI_SYSCALLS] SEC(".rodata.counted");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 2); /* [0]: others, [1]: those that count */
    __type(key, __u32);
    __type(value, __u64);
} mix SEC(".maps");

SEC("tp_btf/sys_enter")
int BPF_PROG(on_any_call, void *regs, long number)
{
    __u32 which = (__u64)number < ABI_SYSCALLS && counted[number];
    __u64 *calls = bpf_map_lookup_elem(&mix, &which);

    if (calls)
        (*calls)++;
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
