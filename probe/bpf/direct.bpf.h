/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program's memory, seen where the kernel maps all memory of the machine (its direct map): a walk through the
 * program's page tables and a load, instead of a helper that opens user memory for a moment, which is the dearest thing
 * that a stat is asked for. Where the direct map begins is not told to anybody, so it is searched for once: from there, the
 * page tables lead to a word that is known. Where that fails (memory is encrypted, Xen), helpers are asked.
 *
 * Only what the kernel has just written for the calling thread is read here, so its page is there. A load that faults
 * gives 0. Page tables: Intel SDM, volume 3, 4.5.4 and 4.5.5, and the same of AMD.
 */
#ifndef UNBLEND_PROBE_BPF_DIRECT_H
#define UNBLEND_PROBE_BPF_DIRECT_H

#include "probe/bpf/file.bpf.h"

#if defined(CAN_CAST) && defined(__TARGET_ARCH_x86)
#define HAS_DIRECT_MAP 1

#define FOUR_LEVELS      0xffff800000000000ULL /* where the kernel begins, unless there are five */

#define ENTRY_PRESENT 0x1
#define ENTRY_LARGE   0x80
#define ENTRY_ADDRESS 0x000ffffffffff000ULL

/* The word there. The verifier loads by type only, so a structure that begins with a word is taken for it. */
#define WORD_AT(address) (CAST(struct pt_regs, address)->r15)

static __always_inline __u64 table_entry(__u64 table, __u64 address, __u32 shift)
{
    return WORD_AT(table + (address >> shift & 511) * 8);
}

static __always_inline __u64 page_table(struct mm_struct *mm)
{
    return WORD_AT((void *)mm + bpf_core_field_offset(struct mm_struct, pgd));
}

/* Where `size` bytes of the program's memory are in the direct map; 0 when they are not in one page of 4 KiB or 2 MiB. */
static __always_inline __u64 direct_address(struct mm_struct *mm, __u64 address, __u64 size, __u64 base)
{
    __u64 table = page_table(mm), entry;

    if (!base || (address & 4095) > 4096 - size)
        return 0;
    if (base < FOUR_LEVELS) {
        entry = table_entry(table, address, 48);
        if (!(entry & ENTRY_PRESENT))
            return 0;
        table = base + (entry & ENTRY_ADDRESS);
    }
    entry = table_entry(table, address, 39);
    if (!(entry & ENTRY_PRESENT))
        return 0;
    entry = table_entry(base + (entry & ENTRY_ADDRESS), address, 30);
    if (!(entry & ENTRY_PRESENT) || entry & ENTRY_LARGE)
        return 0;
    entry = table_entry(base + (entry & ENTRY_ADDRESS), address, 21);
    if (!(entry & ENTRY_PRESENT))
        return 0;
    if (entry & ENTRY_LARGE)
        return base + (entry & ENTRY_ADDRESS & ~0x1fffffULL) + (address & 0x1fffff);
    entry = table_entry(base + (entry & ENTRY_ADDRESS), address, 12);
    if (!(entry & ENTRY_PRESENT))
        return 0;
    return base + (entry & ENTRY_ADDRESS) + (address & 4095);
}

/* The first word and those at `second` and `third`, of which one is the last, of what the kernel has just written for the task;
   false when none is told. */
static __always_inline bool glance(struct task_struct *task, const void *buffer, __u64 second, __u64 third, __u64 words[3])
{
    struct mm_struct *mm = task->mm;
    __u64 there;

    if (!control.direct_map || !mm)
        return false;
    there = direct_address(mm, (__u64)buffer, (second > third ? second : third) + 8, control.direct_map);
    if (!there)
        return false;
    words[0] = WORD_AT(there);
    words[1] = WORD_AT(there + second);
    words[2] = WORD_AT(there + third);
    barrier_var(words[2]); /* clang would make one load of this one and of another by another kind of pointer */
    return true;
}

#else

static __always_inline bool glance(struct task_struct *task, const void *buffer, __u64 second, __u64 third, __u64 words[3])
{
    return false;
}

#endif
#endif
