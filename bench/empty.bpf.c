/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The floor: what it costs to be called at all. */
#include "probe/bpf/kernel.bpf.h"

#include <bpf/bpf_helpers.h>

SEC("tp_btf/sys_enter")
int empty_enter(void *context)
{
    return 0;
}

SEC("tp_btf/sys_exit")
int empty_exit(void *context)
{
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
