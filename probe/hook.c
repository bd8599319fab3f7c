/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/hook.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/compat_table.h"

const struct hook_info hook_table[] = {
    {"on_sys_enter", "tp_btf/sys_enter", "file operations: when they begin", .object = HOOK_SYSCALL},
    {"on_sys_exit", "tp_btf/sys_exit", "file operations: their results", .object = HOOK_SYSCALL},
    {"on_fork", "tp_btf/sched_process_fork", "a child has its parent's job", .object = HOOK_SYSCALL},
    {"on_exec", "tp_btf/sched_process_exec", "the names of processes", .object = HOOK_SYSCALL, .is_aside = true},
    {"on_exit", "tp_btf/sched_process_exit", "operations cut off by a process's end", .object = HOOK_SYSCALL},
    {"on_io_start", "tp_btf/block_io_start", "who caused a block request", .object = HOOK_BLOCK},
    {"on_insert", "tp_btf/block_rq_insert", "block requests: when they are queued", .object = HOOK_BLOCK,
     .is_aside = true},
    {"on_issue", "tp_btf/block_rq_issue", "block requests: when the device gets them", .object = HOOK_BLOCK},
    {"on_complete", "tp_btf/block_rq_complete", "block requests: their completion", .object = HOOK_BLOCK},
    {"on_merge", "tp_btf/block_rq_merge", "block requests: those that become part of another", .object = HOOK_BLOCK,
     .is_aside = true},
    {"on_backmerge", "tp_btf/block_bio_backmerge", "block requests: merges", .object = HOOK_BLOCK, .is_aside = true},
    {"on_frontmerge", "tp_btf/block_bio_frontmerge", "the same, at the other end", .object = HOOK_BLOCK,
     .is_aside = true},
    {"on_fault_user", "tp_btf/page_fault_user", "page faults: reads and writes told apart", .object = HOOK_FAULT,
     .is_aside = true},
    {"on_fault_kernel", "tp_btf/page_fault_kernel", "the same in system calls", .object = HOOK_FAULT,
     .is_aside = true},
    {"on_map_pages", "tp_btf/mm_filemap_map_pages", "page faults: minor ones", .object = HOOK_FAULT,
     .instead = "on_map_pages_function", .instead_name = "fentry/filemap_map_pages"},
    {"on_filemap_fault", "tp_btf/mm_filemap_fault", "page faults: the file", .object = HOOK_FAULT,
     .instead = "on_filemap_fault_function", .instead_name = "fentry/filemap_fault"},
    {"on_page_added", "tp_btf/mm_filemap_add_to_page_cache", "bytes of page faults; reads served from the page cache",
     .object = HOOK_FAULT},
    {"on_uring_submit", "io_uring_submit", "io_uring: requests", .object = HOOK_URING},
    {"on_uring_refuse", "tp_btf/io_uring_req_failed", "io_uring: requests that are refused", .object = HOOK_URING},
    {"on_uring_complete", "tp_btf/io_uring_complete", "io_uring: their completion", .object = HOOK_URING},
    {"on_uring_overflow", "tp_btf/io_uring_cqe_overflow", "io_uring: completions that the ring has no room for",
     .object = HOOK_URING},
    {"on_aio_complete", "aio_complete_rw", "libaio: when requests are done", .object = HOOK_AIO, .is_aside = true},
    {"on_fuse_send", "raw_tp/fuse_request_send", "FUSE: requests to servers", .object = HOOK_FUSE, .module = "fuse"},
    {"on_fuse_end", "raw_tp/fuse_request_end", "FUSE: the servers' answers", .object = HOOK_FUSE, .module = "fuse"},
    {"on_nfs_begin", "raw_tp/rpc_task_begin", "NFS: requests to servers", .object = HOOK_NFS, .module = "sunrpc"},
    {"on_nfs_end", "raw_tp/rpc_task_end", "NFS: the servers' answers", .object = HOOK_NFS, .module = "sunrpc"},
    {"on_nfs_client_free", "raw_tp/rpc_clnt_free", "NFS: mounts that are gone", .object = HOOK_NFS, .module = "sunrpc",
     .is_aside = true},
    {"on_nfsd_begin", "raw_tp/svc_process", "NFS server: clients' requests", .object = HOOK_NFSD, .module = "sunrpc"},
    {"on_nfsd_file", "raw_tp/nfsd_fh_verify", "NFS server: their volume", .object = HOOK_NFSD, .module = "nfsd"},
    {"on_nfsd_operation", "raw_tp/nfsd_compound_status", "NFS server: what is in those of version 4",
     .object = HOOK_NFSD, .module = "nfsd"},
    {"on_nfsd_read", "raw_tp/nfsd_read_io_done", "NFS server: bytes read", .object = HOOK_NFSD, .module = "nfsd"},
    {"on_nfsd_write", "raw_tp/nfsd_write_io_done", "NFS server: bytes written", .object = HOOK_NFSD,
     .module = "nfsd"},
    {"on_nfsd_end", "raw_tp/svc_stats_latency", "NFS server: its answers", .object = HOOK_NFSD, .module = "sunrpc"},
    {"on_nfsd_drop", "raw_tp/svc_drop", "NFS server: requests left without an answer", .object = HOOK_NFSD,
     .module = "sunrpc"},
    {"on_exec_job", "tp_btf/sched_process_exec", "jobs that a process's environment names", .object = HOOK_JOB,
     .is_aside = true},
    {"on_cgroup_make", "tp_btf/cgroup_mkdir", "jobs and containers shorter than an interval", .object = HOOK_JOB,
     .is_aside = true},
    {"on_cgroup_remove", "tp_btf/cgroup_rmdir", "which of them have gone", .object = HOOK_JOB, .is_aside = true},
    {"on_cgroup_move", "tp_btf/cgroup_attach_task", "processes that are put into a job or container",
     .object = HOOK_JOB, .is_aside = true},
    {"on_receive", "tp_btf/tcp_rcv_space_adjust", "writes: how much of them comes from the network", .object = HOOK_RECEIVE,
     .is_aside = true},
    {"on_open_file", "iter/task_file", "files that were open before the start", .object = HOOK_SEED, .is_aside = true},
    {"on_major_fault", "mmap_fault", "page faults on mapped files, major ones", .object = HOOK_FAULT,
     .each_cpu = true},
};
const unsigned hook_count = sizeof(hook_table) / sizeof(*hook_table);

bool hook_aio(void)
{
    static int known = -1; /* asking means to load a program */

    if (known < 0)
        known = libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_loop, NULL) != 0;
    return known;
}

const struct way_in ways_in[] = {
    {"libaio", "operations through io_submit()", hook_aio,
     "the requests cannot be followed: programs of this kernel have no bpf_loop(), which Linux 5.17 has"},
    {"32-bit calls", "operations of 32-bit programs", compat_table_known,
     "calls of 32-bit programs are not captured on this architecture; they count as lost"},
};
const unsigned way_in_count = sizeof(ways_in) / sizeof(*ways_in);

/* The kernel's types; several megabytes to parse, and the same for every question. */
static struct btf *kernel_types(bool give_back)
{
    static struct btf *btf;

    if (give_back) {
        btf__free(btf);
        btf = NULL;
    } else if (!btf) {
        btf = btf__load_vmlinux_btf();
    }
    return btf;
}

uint32_t hook_function_id(const char *name)
{
    const struct btf *btf = kernel_types(false);
    int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) : 0;

    return id > 0 ? (uint32_t)id : 0;
}

bool hook_function(const char *name)
{
    return hook_function_id(name) != 0;
}

/* What came with it is asked for: BTF does not tell how programs are run. */
bool hook_skips(void)
{
    return hook_function("trace_call_bpf_faultable");
}

bool hook_member(const char *name, const char *member)
{
    const struct btf *btf = kernel_types(false);
    int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) : 0;
    const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (unsigned)id) : NULL;

    for (unsigned i = 0; type && i < btf_vlen(type); i++)
        if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), member) == 0)
            return true;
    return false;
}

static int arguments_in(const struct btf *btf, const char *tracepoint)
{
    const struct btf_type *type;
    char name[128];
    int id, arguments = 0;

    /* typedef void (*btf_trace_NAME)(void *data, arguments...) */
    snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
    id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
    if (id > 0) {
        type = btf__type_by_id(btf, btf__type_by_id(btf, (unsigned)id)->type);
        if (btf_is_ptr(type))
            type = btf__type_by_id(btf, type->type);
        if (btf_is_func_proto(type))
            arguments = btf_vlen(type) - 1;
    }
    return arguments;
}

int hook_arguments(const char *tracepoint)
{
    const struct btf *btf = kernel_types(!tracepoint);

    if (!tracepoint)
        return 0;
    return btf ? arguments_in(btf, tracepoint) : -errno;
}

int hook_module_arguments(const char *module, const char *tracepoint)
{
    int arguments = hook_arguments(tracepoint);
    struct btf *btf;

    if (arguments || !module)
        return arguments;
    btf = btf__load_module_btf(module, kernel_types(false));
    if (btf)
        arguments = arguments_in(btf, tracepoint);
    btf__free(btf);
    return arguments;
}

bool hook_module_type(const char *module, const char *type)
{
    const struct btf *btf = kernel_types(false);
    struct btf *own;
    int id = btf ? btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT) : -ENOENT;

    if (id > 0 || !btf)
        return id > 0;
    own = btf__load_module_btf(module, kernel_types(false));
    if (own)
        id = btf__find_by_name_kind(own, type, BTF_KIND_STRUCT);
    btf__free(own);
    return id > 0;
}

void hook_explain(int err, char *text, size_t size)
{
    if ((err == -EPERM || err == -EACCES) && geteuid() != 0)
        snprintf(text, size, "not permitted: run as root, or with the capabilities BPF and PERFMON");
    else if (err == -EPERM || err == -EACCES)
        snprintf(text, size, "the kernel does not permit it, even to root: locked down, or in a "
                             "container without CAP_BPF and CAP_PERFMON");
    else if (access("/sys/kernel/btf/vmlinux", R_OK))
        snprintf(text, size, "this kernel has no type information (/sys/kernel/btf/vmlinux): use one "
                             "built with CONFIG_DEBUG_INFO_BTF, as every distribution's is");
    else if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) == 0)
        snprintf(text, size, "this kernel cannot keep the state of a thread for BPF programs (task storage): "
                             "use Linux 5.12 or later");
    else if (err == -ENOMEM)
        snprintf(text, size, "not enough memory: give --kernel-memory a smaller size");
    else if (err == -EMFILE)
        snprintf(text, size, "this process may not have enough files open: raise its limit (ulimit -n) to 512, and by one "
                             "a processor");
    else
        snprintf(text, size, "%s; `unblend doctor` shows what this kernel has", strerror(-err));
}
