/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel's direct map begins (probe/bpf/direct.bpf.h). Included behind the programs of system calls: who lacks
 * the right to load those shall be told of that, and not of what this one lacks.
 */
#ifndef UNBLEND_PROBE_SEARCH_H
#define UNBLEND_PROBE_SEARCH_H

#include "probe/bpf/direct.bpf.h"

#ifdef HAS_DIRECT_MAP

#define DIRECT_ALIGNMENT (1ULL << 30) /* of the direct map: kaslr.c moves it by pages of the third level */
#define DIRECT_TRIES     8192         /* so many GiB of memory below the caller's own page table */

struct direct_search {
    __u64 last; /* the highest address at which it may begin */
    __u64 address, word;
};

static long try_base(__u32 i, struct direct_search *search)
{
    struct mm_struct *mm = bpf_get_current_task_btf()->mm;
    __u64 base = search->last - i * DIRECT_ALIGNMENT, there;

    there = mm ? direct_address(mm, search->address, sizeof(__u64), base) : 0;
    if (!there || WORD_AT(there) != search->word)
        return 0;
    control.direct_map = base;
    return 1;
}

/* Looks for the direct map, by a word of the caller's memory: the page tables lead to it from nowhere else. */
SEC("syscall")
int find_direct_map(struct abi_known_word *known)
{
    struct mm_struct *mm = bpf_get_current_task_btf()->mm;
    struct direct_search search = {.address = known->address, .word = known->word};

    if (!mm)
        return 0;
    search.last = page_table(mm) & ~(DIRECT_ALIGNMENT - 1);
    bpf_loop(DIRECT_TRIES, try_base, &search, 0);
    return 0;
}

#endif
#endif
