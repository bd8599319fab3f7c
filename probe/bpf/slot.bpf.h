/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demand by slots of 100 ms. A row counts on and on; when an operation ends in a later slot than the one before it,
 * what the row had counted until then is handed to the drain. So an operation costs one comparison, and what finds
 * no room in the ring blurs two slots into one and is never lost: the next snapshot has it, too.
 */
#ifndef UNBLEND_PROBE_SLOT_H
#define UNBLEND_PROBE_SLOT_H

#include "probe/bpf/maps.bpf.h"

#define BPF_RB_NO_WAKEUP 1 /* the drain looks by itself */

/* Half a page is an octave; those below the first and beyond the last are counted with these. */
static __always_inline void fold_latency(const struct abi_row *row, __u32 *octaves)
{
    for (__u32 i = 0; i < ABI_LATENCY_PAGES; i++) {
        __u32 index = row->latency_page[i], low = abi_octave(2 * i), high = abi_octave(2 * i + 1);
        struct abi_page *page;
        __u32 sum = 0;

        if (!index)
            continue;
        page = bpf_map_lookup_elem(&pages, &index);
        if (!page || low >= ABI_OCTAVES || high >= ABI_OCTAVES)
            continue;
        for (int j = 0; j < ABI_PAGE_BUCKETS / 2; j++)
            sum += page->count[j];
        octaves[low] += sum;
        sum = 0;
        for (int j = ABI_PAGE_BUCKETS / 2; j < ABI_PAGE_BUCKETS; j++)
            sum += page->count[j];
        octaves[high] += sum;
    }
}

/*
 * Ends the row's slot: to be called before an operation that ended at now is counted, if now is not before
 * row->slot_end_ns. Not inlined: it is rarely called.
 */
static __noinline int roll_slot(struct abi_row *row, __u32 index, __u64 now)
{
    __u32 zero = 0, blurred = ABI_COUNTER_SLOTS_BLURRED;
    struct abi_slot *slot;
    __u64 *phase, *counter;

    if (row->touched) {
        slot = bpf_ringbuf_reserve(&slots, sizeof(*slot), 0);
        if (slot) {
            __builtin_memset(slot, 0, sizeof(*slot));
            slot->row = index;
            slot->ops = row->touched;
            slot->bytes = row->bytes;
            slot->end_ns = row->slot_end_ns;
            fold_latency(row, slot->octave);
            bpf_ringbuf_submit(slot, BPF_RB_NO_WAKEUP);
        } else {
            counter = bpf_map_lookup_elem(&counters, &blurred);
            if (counter)
                __sync_fetch_and_add(counter, 1);
        }
    }
    phase = bpf_map_lookup_elem(&slot_phase, &zero);
    if (phase)
        row->slot_end_ns = now - (now - *phase) % ABI_SLOT_NS + ABI_SLOT_NS;
    return 0;
}

#endif
