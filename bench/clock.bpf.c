/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The floor of whoever measures latencies: to be called, and to look at the clock, at the start and at the end. */
#include "probe/bpf/kernel.bpf.h"

#include <bpf/bpf_helpers.h>

SEC("tp_btf/sys_enter")
int clock_enter(void *context)
{
    bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/sys_exit")
int clock_exit(void *context)
{
    bpf_ktime_get_ns();
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
