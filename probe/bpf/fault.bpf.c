/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults on mapped files. One operation is one major fault: from the exception, through the file's page
 * not being in the cache, to the kernel's own account of a major fault at its end. Its bytes are the pages that
 * it added to the page cache, readahead included. A fault that the kernel has to begin again after waiting is one.
 */
#include "probe/bpf/async.bpf.h"
#include "probe/bpf/volume.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

static __always_inline void begin_fault(void)
{
    struct abi_task *state = acting_state(bpf_get_current_task_btf());

    if (!state)
        return;
    state->fault_ns = bpf_ktime_get_ns();
    state->fault_volume = ABI_VOLUME_NONE;
    state->fault_pages = 0;
}

SEC("tp_btf/page_fault_user")
int on_fault_user(void *context)
{
    begin_fault();
    return 0;
}

/* A system call that copies from or to a mapped page. */
SEC("tp_btf/page_fault_kernel")
int on_fault_kernel(void *context)
{
    begin_fault();
    return 0;
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(on_filemap_fault, struct address_space *mapping)
{
    struct abi_task *state =
        bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
    struct inode *inode;

    if (!state || !state->fault_ns)
        return 0;
    inode = BPF_CORE_READ(mapping, host);
    state->fault_volume = volume_of_inode((__u64)inode, (__u64)BPF_CORE_READ(inode, i_sb));
    return 0;
}

/*
 * Pages of a folio: one, or two to the power of the low byte of its second page's flags (folio_order() in
 * include/linux/mm.h). A page begins with its flags, whatever type they have.
 */
static __always_inline __u64 pages_of(struct folio *folio)
{
    __u64 flags = 0, more = 0;

    bpf_probe_read_kernel(&flags, sizeof(flags), folio);
    if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
        return 1;
    bpf_probe_read_kernel(&more, sizeof(more), (void *)folio + bpf_core_type_size(struct page));
    return 1ULL << (more & 0xff);
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(on_page_added, struct folio *folio)
{
    struct abi_task *state =
        bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);

    if (state && state->fault_volume)
        state->fault_pages += pages_of(folio);
    return 0;
}

/* The kernel counts a major fault when it is over. */
SEC("perf_event")
int on_major_fault(void *context)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    struct measure m = {.op = OP_MMAP_FAULT, .count = 1, .sized = true};

    if (!state || !state->fault_ns || !state->fault_volume)
        return 0;
    m.process = state->process;
    m.volume = state->fault_volume;
    m.bytes = m.size = state->fault_pages << config.page_shift;
    m.latency_ns = bpf_ktime_get_ns() - state->fault_ns;
    state->fault_ns = 0;
    state->fault_volume = ABI_VOLUME_NONE;
    thread_of(state, task);
    record(&m, state->thread, state->job);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
