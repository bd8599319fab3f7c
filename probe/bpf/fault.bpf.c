/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults on mapped files, and what is added to the page cache. One operation is one major fault: from the
 * moment when the kernel looks for the file's page to the kernel's own account of the fault at its end. Its bytes are
 * the pages that it added to the page cache, readahead included.
 */
#include "probe/bpf/fault.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/*
 * How a thread has faulted last: thread << 32 | how many faults it had had << 1 | whether it writes. Threads that are far
 * apart share a place.
 */
#define PLACES     512
#define LINE       8 /* so many make a cache line */
#define CODE_WRITE 2 /* in the processor's error code */

static volatile __u64 last_fault[PLACES * LINE];

static __always_inline volatile __u64 *place_of_thread(__u32 pid)
{
    return &last_fault[(pid & (PLACES - 1)) * LINE];
}

static __always_inline __u64 note_of(struct task_struct *task, bool writes)
{
    return (__u64)task->pid << 32 | (__u32)(faults_of(task) << 1) | writes;
}

static __always_inline void note_fault(unsigned long code)
{
    struct task_struct *task = bpf_get_current_task_btf();

    *place_of_thread(task->pid) = note_of(task, code & CODE_WRITE);
}

/* These two run at every page fault whatsoever, so they only leave a note. */
SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long address, struct pt_regs *regs, unsigned long code)
{
    note_fault(code);
    return 0;
}

/* A system call that copies from or to a mapped page. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long code)
{
    note_fault(code);
    return 0;
}

/* Not known when a thread that shares the place has faulted since, or nobody has left a note of this fault. */
static __always_inline __u32 fault_writes(void)
{
    struct task_struct *task = bpf_get_current_task_btf();
    __u64 note = *place_of_thread(task->pid);

    if (note == note_of(task, true))
        return ABI_FAULT_WRITE;
    return note == note_of(task, false) ? ABI_FAULT_READ : ABI_FAULT_UNKNOWN;
}

SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(on_map_pages, struct address_space *mapping)
{
    map_around(mapping->host, fault_writes(), false);
    return 0;
}

SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(on_map_pages_again, struct address_space *mapping)
{
    map_around(mapping->host, fault_writes(), true);
    return 0;
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(on_filemap_fault, struct address_space *mapping)
{
    look_for_page(mapping->host, fault_writes(), false);
    return 0;
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(on_filemap_fault_again, struct address_space *mapping)
{
    look_for_page(mapping->host, fault_writes(), true);
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

static __always_inline __u64 inode_of(struct folio *folio)
{
    if (bpf_core_field_exists(folio->mapping))
        return (__u64)BPF_CORE_READ(folio, mapping, host);
    return (__u64)BPF_CORE_READ((struct page *)folio, mapping, host);
}

/* Whether the page is of the file that is written, in a transfer between two: what counts is whether the other is read. */
static __always_inline bool is_written_to(const struct abi_task *state, const struct abi_thread *thread,
                                          struct folio *folio)
{
    if (thread && thread->quick != ABI_NOT_QUICK)
        return false; /* what the state has is of another call */
    return state->volume && state->volume2 && inode_of(folio) != state->inode;
}

static __always_inline int add_page(struct folio *folio, bool again)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    struct abi_thread *thread;

    if (!state || is_done(state, (__u64)folio, faults_of(task), again))
        return 0;
    thread = thread_in(state);
    if (is_written_to(state, thread, folio))
        return 0;
    if (thread)
        thread->missed = 1;
    else
        state->missed_ns = state->enter_ns;
    if (in_fault(state, task))
        state->fault_pages += pages_of(folio);
    return 0;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(on_page_added, struct folio *folio)
{
    return add_page(folio, false);
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(on_page_added_again, struct folio *folio)
{
    return add_page(folio, true);
}

/* The kernel counts a major fault when it is over. */
SEC("perf_event")
int on_major_fault(void *context)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_task *state = bpf_task_storage_get(&tasks, task, NULL, 0);
    struct measure m = {.op = OP_MMAP_FAULT, .count = 1, .sized = true};
    struct abi_thread *thread;
    struct abi_detail *detail;

    if (!state || !state->fault_volume)
        return 0;
    if (!state->fault_ns || faults_of(task) != state->fault_number + 1) {
        settle_fault(state, task); /* another one's end: of swapped memory, say */
        return 0;
    }
    m.process = state->process;
    m.volume = state->fault_volume;
    m.bytes = m.size = state->fault_pages << config.page_shift;
    m.end_ns = bpf_ktime_get_ns();
    m.latency_ns = m.end_ns - state->fault_ns;
    state->fault_volume = ABI_VOLUME_NONE;
    thread = thread_of(state, task);
    detail = thread && state->fault_write ? detail_of(thread, m.volume) : NULL;
    if (detail) {
        detail->read_faults += state->fault_write == ABI_FAULT_READ;
        detail->write_faults += state->fault_write == ABI_FAULT_WRITE;
        detail->touched++;
    }
    record(&m, state->thread, state->job);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
