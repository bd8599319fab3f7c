/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads get from the network (TCP), for their writes: who writes to a file what it has just received downloads it.
 * Each has a credit of bytes received and not written yet. Its writes take the slow way while it has one, and that pays for
 * them (probe/bpf/received.bpf.h), and so do its writes to pipes and sockets; all other calls pay nothing.
 */
#include "probe/bpf/received.bpf.h"

#include <bpf/bpf_tracing.h>

#define FIRST_MAX (64u << 10) /* at the first look at a connection, which may be older than the probe: what one call takes */

/* What the program has taken from a connection since the last look. */
static __always_inline __u64 taken_from(const struct tcp_sock *tcp)
{
    __u64 key = (__u64)tcp, *before = bpf_map_lookup_elem(&connections, &key);
    __u64 taken = tcp->bytes_received - (__u32)(tcp->rcv_nxt - tcp->copied_seq), last;

    if (before && *before <= taken) {
        last = *before;
        *before = taken;
        return taken - last;
    }
    bpf_map_update_elem(&connections, &key, &taken, BPF_ANY);
    return smaller(taken, FIRST_MAX);
}

/* The kernel looks whether a connection needs more room, as somebody has taken something from it. Who has not locked it is no
   program's thread. */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(on_receive, struct sock *sock)
{
    struct abi_task *state;
    struct tcp_sock *tcp;

    if (!sock->sk_lock.owned)
        return 0;
    tcp = bpf_skc_to_tcp_sock(sock);
    state = known_state(bpf_get_current_task_btf());
    if (tcp && state)
        receive(state, taken_from(tcp));
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
