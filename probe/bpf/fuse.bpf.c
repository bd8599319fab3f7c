/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to servers of FUSE file systems, from their sending to the server's answer. Who answers is the server: its
 * own I/O is counted as everybody's is, so that of the two one is the other's.
 */
#include "probe/bpf/remote.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* include/uapi/linux/fuse.h */
#define FUSE_FORGET       2
#define FUSE_READ         15
#define FUSE_WRITE        16
#define FUSE_FSYNC        20
#define FUSE_FLUSH        25
#define FUSE_INIT         26
#define FUSE_FSYNCDIR     30
#define FUSE_INTERRUPT    36
#define FUSE_BATCH_FORGET 42
#define FUSE_SYNCFS       50
/* include/uapi/asm-generic/errno.h */
#define EINTR        4
#define ECONNABORTED 103
#define ENOTCONN     107

#define IN_HEADER         40
#define WRITE_HEADER      40
#define OUT_HEADER        16

static __always_inline __u32 kind_of(__u32 opcode)
{
    switch (opcode) {
    case FUSE_READ:
        return ABI_REQUEST_READ;
    case FUSE_WRITE:
        return ABI_REQUEST_WRITE;
    case FUSE_FSYNC:
    case FUSE_FLUSH:
    case FUSE_FSYNCDIR:
    case FUSE_SYNCFS:
        return ABI_REQUEST_FLUSH;
    }
    return ABI_REQUEST_METADATA;
}

/* Those that nobody answers. */
static __always_inline bool is_told_only(__u32 opcode)
{
    return opcode == FUSE_FORGET || opcode == FUSE_BATCH_FORGET || opcode == FUSE_INTERRUPT || opcode == FUSE_INIT;
}

SEC("raw_tp/fuse_request_send")
int BPF_PROG(on_fuse_send, struct fuse_req *request)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct super_block *super = BPF_CORE_READ(request, fm, sb);
    __u32 opcode = BPF_CORE_READ(request, in.h.opcode);
    struct abi_remote entry = {.layer = ABI_STATION_FUSE, .request = kind_of(opcode)};
    __u32 job = 0;

    if (is_told_only(opcode) || !super || !find_job(task, &job))
        return 0;
    entry.party = party_of(task, job, opcode == FUSE_WRITE);
    entry.volume = volume_of_super((__u64)super);
    if (entry.volume == ABI_VOLUME_NONE)
        return 0;
    entry.start_ns = bpf_ktime_get_ns();
    begin_remote((__u64)request, &entry);
    return 0;
}

/* Whoever brings the answer serves that volume; a request that is given up ends in a task of its client's. */
static __always_inline void note_server(const struct abi_remote *entry, long error)
{
    __u32 tgid = bpf_get_current_pid_tgid() >> 32;

    if (error == -ENOTCONN || error == -ECONNABORTED || error == -EINTR ||
        BPF_CORE_READ(bpf_get_current_task_btf(), flags) & PF_KTHREAD)
        return;
    bpf_map_update_elem(&fuse_servers, &tgid, &entry->volume, BPF_ANY);
}

SEC("raw_tp/fuse_request_end")
int BPF_PROG(on_fuse_end, struct fuse_req *request)
{
    __u64 key = (__u64)request;
    struct abi_remote *entry = bpf_map_lookup_elem(&remote_requests, &key);
    struct ended e;
    __s32 error;

    if (!entry)
        return 0;
    error = BPF_CORE_READ(request, out.h.error);
    entry->failed = error < 0;
    e = ended_remote(entry);
    e.service_ns = bpf_ktime_get_ns() - entry->start_ns;
    if (e.sized && entry->request == ABI_REQUEST_READ) {
        __u32 length = BPF_CORE_READ(request, out.h.len);

        e.bytes = length > OUT_HEADER ? length - OUT_HEADER : 0;
    } else if (e.sized) {
        __u32 length = BPF_CORE_READ(request, in.h.len);

        e.bytes = length > IN_HEADER + WRITE_HEADER ? length - IN_HEADER - WRITE_HEADER : 0;
    }
    note_server(entry, error);
    bpf_map_delete_elem(&remote_requests, &key);
    end_request(&e);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
