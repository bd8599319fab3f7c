/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads get from the network, for their writes: who writes to a file what it has just received downloads it. Each
 * has a credit of bytes received and not written yet. Its writes take the slow way while it has one, and that pays for them
 * (probe/bpf/received.bpf.h); all others pay nothing.
 */
#include "probe/bpf/received.bpf.h"

#include <bpf/bpf_tracing.h>

#define AF_INET  2
#define AF_INET6 10
#define MSG_PEEK 2

/* At the end of each receive, by whatever call. */
SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sock, int length, int flags)
{
    __u16 family = sock->__sk_common.skc_family;
    struct abi_task *state;

    if (length <= 0 || flags & MSG_PEEK || (family != AF_INET && family != AF_INET6))
        return 0;
    state = known_state(bpf_get_current_task_btf());
    if (state)
        receive(state, length);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
