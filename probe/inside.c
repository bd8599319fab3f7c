/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/inside.h"

uint64_t inside_ns(const struct tables *tables, const struct abi_thread *thread, uint64_t since_ns, int64_t now_ns)
{
    /* Before the rows: a call that ends meanwhile is in neither until the next look, and in both never. */
    uint32_t op = __atomic_load_n(&thread->pending_op, __ATOMIC_ACQUIRE);
    uint64_t began_ns = __atomic_load_n(&thread->pending_ns, __ATOMIC_ACQUIRE), sum_ns = 0;
    uint32_t again, rows = tables->table[ABI_TABLE_ROWS].entries;

    for (enum operation kind = OP_FIRST; kind < OP_FILE_END; kind++) {
        uint32_t row = __atomic_load_n(&thread->head[kind], __ATOMIC_ACQUIRE);

        for (; row && row < rows; row = row_at(tables, row)->next)
            sum_ns += __atomic_load_n(&row_at(tables, row)->latency_sum_ns, __ATOMIC_RELAXED);
    }
    again = __atomic_load_n(&thread->pending_op, __ATOMIC_ACQUIRE);
    if (op && again == op && op < OP_FILE_END && began_ns >= since_ns && now_ns > (int64_t)began_ns &&
        __atomic_load_n(&thread->pending_ns, __ATOMIC_ACQUIRE) == began_ns)
        sum_ns += (uint64_t)now_ns - began_ns;
    return sum_ns;
}
