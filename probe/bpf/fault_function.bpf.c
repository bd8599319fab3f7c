/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults on mapped files where the kernel has no tracepoints for them: at its functions. */
#include "probe/bpf/fault.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

static __always_inline struct inode *inode_of(struct vm_fault *fault)
{
    return fault->vma->vm_file->f_inode;
}

static __always_inline __u32 writes(struct vm_fault *fault)
{
    return fault->flags & bpf_core_enum_value(enum fault_flag, FAULT_FLAG_WRITE) ? ABI_FAULT_WRITE : ABI_FAULT_READ;
}

SEC("fentry/filemap_map_pages")
int BPF_PROG(on_map_pages_function, struct vm_fault *fault)
{
    map_around(inode_of(fault), writes(fault), false);
    return 0;
}

SEC("fentry/filemap_fault")
int BPF_PROG(on_filemap_fault_function, struct vm_fault *fault)
{
    look_for_page(inode_of(fault), writes(fault), false);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
