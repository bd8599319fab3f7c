/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of this node's NFS mounts to their servers: remote procedures, from their making to the server's answer. Each
 * attempt is one, as in /proc/self/mountstats: its queue is the time before the first sending (for a slot of the
 * session, a connection, memory), its service the round trip.
 */
#include "probe/bpf/remote.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "probe/bpf/nfstypes.bpf.h"

#define MOUNTS_LOOKED_AT 512

static __always_inline __u32 kind_of(struct rpc_task *rpc)
{
    struct name name = read_name(BPF_CORE_READ(rpc, tk_msg.rpc_proc, p_name));

    if (is_named(name, NAMED("READ")) || is_named(name, NAMED("READ_PLUS")))
        return ABI_REQUEST_READ;
    if (is_named(name, NAMED("WRITE")))
        return ABI_REQUEST_WRITE;
    return is_named(name, NAMED("COMMIT")) ? ABI_REQUEST_FLUSH : ABI_REQUEST_METADATA;
}

static __always_inline struct nfs_server *server_of(struct super_block *super)
{
    return super && BPF_CORE_READ(super, s_magic) == NFS_SUPER_MAGIC ? BPF_CORE_READ(super, s_fs_info) : NULL;
}

/* Which volume a client is for: what asks for metadata names no file that we could find. */
static __always_inline void remember_client(__u64 client, __u64 volume)
{
    struct abi_remote entry = {.layer = ABI_STATION_NFS_CLIENT, .volume = volume};

    bpf_map_update_elem(&remote_requests, &client, &entry, BPF_NOEXIST);
}

static __always_inline void learn_client(struct super_block *super, __u64 volume)
{
    struct nfs_server *server = server_of(super);
    __u64 client = server ? (__u64)BPF_CORE_READ(server, client) : 0;

    if (client && !bpf_map_lookup_elem(&remote_requests, &client))
        remember_client(client, volume);
}

static __always_inline __u64 volume_of_data(struct rpc_task *rpc, __u32 kind)
{
    void *data = BPF_CORE_READ(rpc, tk_calldata);
    struct inode *inode = kind == ABI_REQUEST_FLUSH ? BPF_CORE_READ((struct nfs_commit_data *)data, inode)
                                                    : BPF_CORE_READ((struct nfs_pgio_header *)data, inode);
    struct super_block *super = inode ? BPF_CORE_READ(inode, i_sb) : NULL;
    __u64 volume = super ? volume_of_super((__u64)super) : ABI_VOLUME_UNKNOWN;

    if (super && volume != ABI_VOLUME_NONE)
        learn_client(super, volume);
    return volume;
}

static __always_inline struct mount *mount_of_child(__u64 child)
{
    return (struct mount *)(child - bpf_core_field_offset(struct mount, mnt_child));
}

static __always_inline bool serves_client(struct mount *mount, __u64 client)
{
    struct nfs_server *server = server_of(BPF_CORE_READ(mount, mnt.mnt_sb));

    return server && ((__u64)BPF_CORE_READ(server, client) == client ||
                      (__u64)BPF_CORE_READ(server, client_acl) == client);
}

/* The superblock among those that the calling task has mounted, from the root down; NULL: not among the first ones. */
static __always_inline struct super_block *find_mounted(__u64 client)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct mount *root = BPF_CORE_READ(task, nsproxy, mnt_ns, root), *mount = root;
    bool is_new = true;

    for (int i = 0; i < MOUNTS_LOOKED_AT && mount; i++) {
        __u64 head = (__u64)mount + bpf_core_field_offset(struct mount, mnt_mounts);
        __u64 below = (__u64)BPF_CORE_READ(mount, mnt_mounts.next);
        struct mount *parent;
        __u64 next;

        if (is_new && serves_client(mount, client))
            return BPF_CORE_READ(mount, mnt.mnt_sb);
        if (is_new && below && below != head) {
            mount = mount_of_child(below);
            continue;
        }
        if (mount == root)
            break;
        parent = BPF_CORE_READ(mount, mnt_parent);
        next = (__u64)BPF_CORE_READ(mount, mnt_child.next);
        is_new = next != (__u64)parent + bpf_core_field_offset(struct mount, mnt_mounts);
        mount = is_new ? mount_of_child(next) : parent;
    }
    return NULL;
}

/* Global, so that the verifier walks the mounts once. */
__noinline __u64 volume_of_client(__u64 client)
{
    struct abi_remote *known = bpf_map_lookup_elem(&remote_requests, &client);
    struct super_block *super;
    __u64 volume;

    if (known)
        return known->volume;
    super = find_mounted(client);
    if (!super)
        return ABI_VOLUME_UNKNOWN;
    volume = volume_of_super((__u64)super);
    remember_client(client, volume);
    return volume;
}

/* Of those that keep up a session, and of a mount that is being made, there is none. */
static __always_inline __u64 volume_of_request(struct rpc_task *rpc, struct rpc_clnt *client, __u32 kind)
{
    return kind == ABI_REQUEST_METADATA ? volume_of_client((__u64)client) : volume_of_data(rpc, kind);
}

SEC("raw_tp/rpc_task_begin")
int BPF_PROG(on_nfs_begin, struct rpc_task *rpc)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct rpc_clnt *client = BPF_CORE_READ(rpc, tk_client);
    struct abi_remote entry = {.layer = ABI_STATION_NFS_CLIENT};
    __u32 job = 0;

    if (!client || BPF_CORE_READ(client, cl_prog) != NFS_PROGRAM || !find_job(task, &job))
        return 0;
    entry.request = kind_of(rpc);
    entry.volume = volume_of_request(rpc, client, entry.request);
    entry.party = party_of(task, job, entry.request != ABI_REQUEST_METADATA);
    if (entry.volume == ABI_VOLUME_NONE || (entry.volume == ABI_VOLUME_UNKNOWN && entry.party == ABI_PARTY_KERNEL))
        return 0;
    entry.start_ns = bpf_ktime_get_ns();
    begin_remote((__u64)rpc, &entry);
    return 0;
}

/* One that is tried once more was not seen to begin again; whoever asked for it is not known any more. */
static __always_inline bool begun_again(struct rpc_task *rpc, struct abi_remote *entry)
{
    struct rpc_clnt *client = BPF_CORE_READ(rpc, tk_client);

    if (!config.all || !client || BPF_CORE_READ(client, cl_prog) != NFS_PROGRAM)
        return false;
    entry->layer = ABI_STATION_NFS_CLIENT;
    entry->request = kind_of(rpc);
    entry->volume = volume_of_request(rpc, client, entry->request);
    return entry->volume != ABI_VOLUME_NONE && entry->volume != ABI_VOLUME_UNKNOWN;
}

static __always_inline __u64 bytes_moved(struct rpc_task *rpc)
{
    struct nfs_pgio_header *header = BPF_CORE_READ(rpc, tk_calldata);
    __u64 count = 0;

    if (bpf_core_field_size(header->res.count) == sizeof(count))
        bpf_core_read(&count, sizeof(count), &header->res.count);
    else
        bpf_core_read(&count, sizeof(__u32), &header->res.count); /* both architectures are little-endian */
    return count;
}

SEC("raw_tp/rpc_task_end")
int BPF_PROG(on_nfs_end, struct rpc_task *rpc)
{
    __u64 key = (__u64)rpc, start, sent;
    struct abi_remote again = {}, *entry = bpf_map_lookup_elem(&remote_requests, &key);
    struct rpc_rqst *request = BPF_CORE_READ(rpc, tk_rqstp);
    bool is_begun = entry != NULL;
    struct ended e;

    if (!entry && (!request || !begun_again(rpc, &again)))
        return 0;
    if (entry)
        again = *entry;
    again.failed = BPF_CORE_READ(rpc, tk_status) < 0;
    e = ended_remote(&again);
    bpf_map_delete_elem(&remote_requests, &key);
    if (!request) { /* given up before it was one */
        leave_queue(e.key.volume, e.key.layer);
        return 0;
    }
    start = BPF_CORE_READ(rpc, tk_start);
    sent = BPF_CORE_READ(request, rq_xtime);
    e.queue_ns = (sent ? sent : bpf_ktime_get_ns()) - start;
    e.service_ns = BPF_CORE_READ(request, rq_rtt);
    if (e.sized)
        e.bytes = bytes_moved(rpc);
    if (!is_begun)
        begin_request(e.key.volume, e.key.layer);
    end_request(&e);
    return 0;
}

/* Its address is another's soon. */
SEC("raw_tp/rpc_clnt_free")
int BPF_PROG(on_nfs_client_free, struct rpc_clnt *client)
{
    __u64 key = (__u64)client;

    bpf_map_delete_elem(&remote_requests, &key);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
