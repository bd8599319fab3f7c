/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of clients to the kernel's NFS server, from their arrival until the answer is ready: one is what a client
 * sends in one go, so that a compound of version 4 is one, and what it is for is told by the operations in it. For
 * whom, the client knows alone. Those without a file, which keep up a session, are no requests to a volume.
 */
#include "probe/bpf/remote.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "probe/bpf/nfstypes.bpf.h"

static __always_inline __u32 kind_of_procedure(__u32 version, __u32 number)
{
    if (version > 3)
        return ABI_REQUEST_METADATA; /* until an operation says otherwise */
    switch (number) {
    case 6:
        return ABI_REQUEST_READ;
    case 7:
        return version == 3 ? ABI_REQUEST_WRITE : ABI_REQUEST_METADATA;
    case 8:
        return version == 2 ? ABI_REQUEST_WRITE : ABI_REQUEST_METADATA;
    case 21:
        return ABI_REQUEST_FLUSH;
    }
    return ABI_REQUEST_METADATA;
}

/* By what the server calls it; those that are about where and who leave it at what it was. */
static __always_inline __u32 kind_of_operation(const char *operation, __u32 before)
{
    struct name name = read_name(operation);

    if (is_named(name, NAMED("OP_READ")) || is_named(name, NAMED("OP_READ_PLUS")))
        return ABI_REQUEST_READ;
    if (is_named(name, NAMED("OP_WRITE")))
        return ABI_REQUEST_WRITE;
    return is_named(name, NAMED("OP_COMMIT")) ? ABI_REQUEST_FLUSH : before;
}

/* The one that the calling thread of the server works on. */
static __always_inline struct abi_remote *served_now(void)
{
    __u64 key = (__u64)bpf_get_current_task_btf();

    return bpf_map_lookup_elem(&remote_requests, &key);
}

SEC("raw_tp/svc_process")
int BPF_PROG(on_nfsd_begin, struct svc_rqst *request)
{
    __u32 number = BPF_CORE_READ(request, rq_proc);
    struct abi_remote entry = {.layer = ABI_STATION_NFS_SERVER, .start_ns = BPF_CORE_READ(request, rq_stime)};

    if (!config.all || !number || BPF_CORE_READ(request, rq_prog) != NFS_PROGRAM)
        return 0;
    entry.request = kind_of_procedure(BPF_CORE_READ(request, rq_vers), number);
    begin_remote((__u64)bpf_get_current_task_btf(), &entry);
    return 0;
}

/* The first one is where it goes. */
SEC("raw_tp/nfsd_fh_verify")
int BPF_PROG(on_nfsd_file, struct svc_rqst *request, struct svc_fh *handle)
{
    struct abi_remote *entry = served_now();
    struct super_block *super;

    if (!entry || entry->volume != ABI_VOLUME_NONE)
        return 0;
    super = BPF_CORE_READ(handle, fh_export, ex_path.mnt, mnt_sb);
    if (super)
        entry->volume = volume_of_super((__u64)super);
    if (entry->volume != ABI_VOLUME_NONE)
        begin_request(entry->volume, entry->layer);
    return 0;
}

SEC("raw_tp/nfsd_compound_status")
int BPF_PROG(on_nfsd_operation, __u32 asked, __u32 answered, __u32 status, const char *name)
{
    struct abi_remote *entry = served_now();

    if (!entry)
        return 0;
    entry->request = kind_of_operation(name, entry->request);
    entry->failed |= status != 0;
    return 0;
}

static __always_inline void add_bytes(__u32 bytes)
{
    struct abi_remote *entry = served_now();

    if (entry)
        entry->bytes += bytes;
}

SEC("raw_tp/nfsd_read_io_done")
int BPF_PROG(on_nfsd_read, struct svc_rqst *request, struct svc_fh *handle, __u64 offset, __u32 bytes)
{
    add_bytes(bytes);
    return 0;
}

SEC("raw_tp/nfsd_write_io_done")
int BPF_PROG(on_nfsd_write, struct svc_rqst *request, struct svc_fh *handle, __u64 offset, __u32 bytes)
{
    add_bytes(bytes);
    return 0;
}

SEC("raw_tp/svc_stats_latency")
int BPF_PROG(on_nfsd_end, struct svc_rqst *request)
{
    __u64 key = (__u64)bpf_get_current_task_btf();
    struct abi_remote *entry = bpf_map_lookup_elem(&remote_requests, &key);
    __u32 status = 0;
    struct ended e;

    if (!entry || entry->layer != ABI_STATION_NFS_SERVER)
        return 0;
    if (BPF_CORE_READ(request, rq_vers) < 4) {
        bpf_probe_read_kernel(&status, sizeof(status), BPF_CORE_READ(request, rq_resp));
        entry->failed = status != 0;
    }
    e = ended_remote(entry);
    e.service_ns = bpf_ktime_get_ns() - entry->start_ns;
    if (e.sized)
        e.bytes = entry->bytes;
    bpf_map_delete_elem(&remote_requests, &key);
    if (e.key.volume != ABI_VOLUME_NONE)
        end_request(&e);
    return 0;
}

/* It is not answered; when it is worked on again, it is another. */
SEC("raw_tp/svc_drop")
int BPF_PROG(on_nfsd_drop, struct svc_rqst *request)
{
    __u64 key = (__u64)bpf_get_current_task_btf();
    struct abi_remote *entry = bpf_map_lookup_elem(&remote_requests, &key);

    if (!entry)
        return 0;
    if (entry->volume != ABI_VOLUME_NONE)
        leave_queue(entry->volume, entry->layer);
    bpf_map_delete_elem(&remote_requests, &key);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
