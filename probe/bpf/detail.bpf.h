/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is rare, kept beside the rows: which errors there were, what the page cache did for reads, minor page faults.
 * A thread writes its own, without atomics.
 */
#ifndef UNBLEND_PROBE_DETAIL_H
#define UNBLEND_PROBE_DETAIL_H

#include "probe/bpf/account.bpf.h"

/* The thread's detail of a volume, made at first use. NULL when there is no room. */
static __always_inline struct abi_detail *detail_of(struct abi_thread *thread, __u64 volume)
{
    __u32 index;

    return (struct abi_detail *)find_row(thread, OP_NONE, volume, 0, &index);
}

static __always_inline void count_failure(struct abi_detail *detail, const struct measure *m)
{
    for (int i = 0; i < ABI_FAILURES; i++) {
        struct abi_failure *failure = &detail->failures[i];

        if (!failure->count) {
            failure->op = m->op;
            failure->code = m->error_code;
        } else if (failure->op != m->op || failure->code != m->error_code) {
            continue;
        }
        failure->count += m->count;
        return;
    }
}

static __always_inline bool has_detail(const struct measure *m)
{
    return m->error_code || (m->op == OP_READ && m->cache != ABI_CACHE_HIT && m->bytes);
}

/* Before its operation is counted in a row: so what a row has, the details have, too. */
static __noinline void account_detail(struct abi_thread *thread, const struct measure *m)
{
    struct abi_detail *detail = detail_of(thread, m->volume);

    if (!detail) {
        thread->undetailed = 1;
        return;
    }
    if (m->error_code) {
        count_failure(detail, m);
    } else if (m->cache == ABI_CACHE_MISS) {
        detail->missed_ops += m->count;
        detail->missed_bytes += m->bytes;
    } else {
        detail->unknown_ops += m->order ? m->count : 0;
        detail->unknown_bytes += m->bytes;
    }
    detail->touched++;
}

#endif
