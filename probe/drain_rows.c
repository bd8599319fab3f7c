/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/drain_private.h"

#include <string.h>

static_assert(ABI_ORDERS - ABI_SEQUENTIAL == ORDER_COUNT && ABI_CONSECUTIVE - ABI_SEQUENTIAL == ORDER_CONSECUTIVE &&
                  ABI_RANDOM - ABI_SEQUENTIAL == ORDER_RANDOM,
              "orders are numbered alike on both sides");

/* What was seen of a row last time. */
struct seen_row {
    uint64_t bytes, latency_sum_ns, errors;
    uint64_t order[ABI_ORDERS];
    uint32_t touched;
};

static struct seen_row *seen_row(const struct drain *drain, uint32_t row)
{
    return (struct seen_row *)drain->rows.memory + row;
}

static struct abi_page *seen_page(const struct drain *drain, uint32_t page)
{
    return (struct abi_page *)drain->pages.memory + page;
}

int drain_rows_open(struct drain *drain)
{
    const struct table *table = drain->from.tables->table;
    int err = sparse_open(&drain->rows, table[ABI_TABLE_ROWS].entries * sizeof(struct seen_row));

    return err ? err : sparse_open(&drain->pages, table[ABI_TABLE_PAGES].entries * sizeof(struct abi_page));
}

void drain_rows_close(struct drain *drain)
{
    sparse_close(&drain->rows);
    sparse_close(&drain->pages);
}

void drain_rows_tidy(struct drain *drain)
{
    sparse_tidy(&drain->rows);
    sparse_tidy(&drain->pages);
}

bool drain_row_changed(const struct drain *drain, uint32_t index)
{
    return *(volatile uint32_t *)&row_at(drain->from.tables, index)->touched != seen_row(drain, index)->touched ||
           slots_waiting(drain->slots, index);
}

/* The pages' increments since last time go into the histogram. Counts wrap at 2^32, differences do not. */
static int drain_pages(struct drain *drain, const uint32_t *indices, unsigned count,
                       struct histogram *histogram)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t index = __atomic_load_n(&indices[i], __ATOMIC_ACQUIRE);
        const volatile struct abi_page *page;
        struct abi_page *seen;

        if (!index || index >= drain->from.tables->table[ABI_TABLE_PAGES].entries)
            continue;
        page = page_at(drain->from.tables, index);
        seen = seen_page(drain, index);
        for (unsigned j = 0; j < ABI_PAGE_BUCKETS; j++) {
            uint32_t now = page->count[j];
            int err;

            if (now == seen->count[j])
                continue;
            err = histogram_add_bucket(histogram, i * ABI_PAGE_BUCKETS + j, now - seen->count[j]);
            if (err)
                return err;
            seen->count[j] = now;
        }
    }
    return 0;
}

/* The latencies of a row by octaves, as far as they have been drained. */
static void fold_latency(const struct drain *drain, const struct abi_row *row, uint32_t octaves[ABI_OCTAVES])
{
    memset(octaves, 0, ABI_OCTAVES * sizeof(*octaves));
    for (unsigned i = 0; i < ABI_LATENCY_PAGES; i++)
        for (unsigned j = 0; row->latency_page[i] && j < ABI_PAGE_BUCKETS; j++)
            octaves[abi_octave((i * ABI_PAGE_BUCKETS + j) / BUCKET_SUB)] +=
                seen_page(drain, row->latency_page[i])->count[j];
}

static int drain_counts(struct drain *drain, uint32_t index, enum operation op, uint32_t process,
                        uint32_t job, uint32_t volume, struct batch *batch)
{
    const volatile struct abi_row *row = row_at(drain->from.tables, index);
    struct seen_row *seen = seen_row(drain, index);
    uint32_t touched = row->touched;
    uint64_t bytes, latency, errors, order[ABI_ORDERS], ops = 0;
    struct record *record;
    int err;

    if (touched == seen->touched)
        return 0;
    err = batch_record(batch, job, volume, process, op, &record);
    if (!err && row->volume == ABI_VOLUME_UNKNOWN)
        ops = record_ops(record);
    if (err)
        return err;
    bytes = row->bytes;
    latency = row->latency_sum_ns;
    errors = row->errors;
    for (unsigned i = 0; i < ABI_ORDERS; i++)
        order[i] = row->order[i];
    err = drain_pages(drain, (const uint32_t *)row->size_page, ABI_SIZE_PAGES, &record->size);
    if (!err)
        err = drain_pages(drain, (const uint32_t *)row->latency_page, ABI_LATENCY_PAGES,
                          &record->latency_ns);
    if (err)
        return err;
    record->bytes += bytes - seen->bytes;
    record->latency_sum_ns += latency - seen->latency_sum_ns;
    record->errors += errors - seen->errors;
    for (unsigned i = ABI_SEQUENTIAL; i < ABI_ORDERS; i++)
        record->order[i - ABI_SEQUENTIAL] += order[i] - seen->order[i];
    *seen = (struct seen_row){
        .bytes = bytes, .latency_sum_ns = latency, .errors = errors, .touched = touched};
    memcpy(seen->order, order, sizeof(order));
    if (row->volume == ABI_VOLUME_UNKNOWN)
        batch->coverage.unattributed += record_ops(record) - ops;
    return 0;
}

int drain_row(struct drain *drain, uint32_t index, enum operation op, uint32_t process,
              uint32_t job, struct batch *batch)
{
    const struct abi_row *row = row_at(drain->from.tables, index);
    struct slots_row now = slots_read(row);
    uint32_t octaves[ABI_OCTAVES], volume;
    int err = volumes_name(drain->from.volumes, row->volume, batch, &volume);

    if (!err)
        err = drain_counts(drain, index, op, process, job, volume, batch);
    if (err)
        return err;
    fold_latency(drain, row, octaves);
    return slots_add(drain->slots, index, &now, op, octaves, job, volume, batch, drain->bursts);
}

static void recycle_pages(struct drain *drain, const uint32_t *indices, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (indices[i]) {
            memset(seen_page(drain, indices[i]), 0, sizeof(struct abi_page));
            table_give(drain->from.tables, ABI_TABLE_PAGES, indices[i]);
        }
}

void drain_recycle(struct drain *drain, uint32_t index)
{
    struct tables *tables = drain->from.tables;
    struct abi_thread *thread = thread_at(tables, index);

    for (enum operation op = OP_NONE; op < OP_FILE_END; op++)
        for (uint32_t at = thread->head[op], next; at; at = next) {
            struct abi_row *row = row_at(tables, at);

            next = row->next;
            if (op != OP_NONE) { /* else it is a detail */
                recycle_pages(drain, row->size_page, ABI_SIZE_PAGES);
                recycle_pages(drain, row->latency_page, ABI_LATENCY_PAGES);
            }
            details_forget(drain->details, at);
            memset(seen_row(drain, at), 0, sizeof(struct seen_row));
            slots_forget(drain->slots, at);
            table_give(tables, ABI_TABLE_ROWS, at);
        }
    table_give(tables, ABI_TABLE_THREADS, index);
}
