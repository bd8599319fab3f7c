/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/drain_private.h"

#include <string.h>

static_assert(ABI_RANDOM - ABI_SEQUENTIAL + 1 == ORDER_COUNT && ABI_CONSECUTIVE - ABI_SEQUENTIAL == ORDER_CONSECUTIVE &&
                  ABI_RANDOM - ABI_SEQUENTIAL == ORDER_RANDOM,
              "orders are numbered alike on both sides");
static_assert(ABI_FILE_SIZES - ABI_FILE_SMALL == FILE_SIZES && ABI_FILE_LARGE - ABI_FILE_SMALL == FILE_LARGE,
              "so are files by their size");
static_assert(ABI_FILE_NO_SIZE == 0 && ABI_FILE_SMALL == 1 + FILE_SMALL, "and as the kinds of lib/joint.h");

/* What was seen of a row last time. */
struct seen_row {
    uint64_t bytes, latency_sum_ns;
    uint32_t order[ABI_ORDERS];
    uint32_t touched, errors;
    uint32_t others; /* of seeks, closes and stats: those that stand in no other place of order */
};

static struct seen_row *seen_row(const struct drain *drain, uint32_t row)
{
    return (struct seen_row *)drain->rows.memory + row;
}

/* What was seen of a page is kept by halves: hardly any bucket of a thread has counted to 2^16, so hardly anything of
   the high ones is ever touched. */
typedef uint16_t seen_half[ABI_PAGE_BUCKETS];

static uint32_t seen_count(const struct drain *drain, uint32_t page, unsigned bucket)
{
    const seen_half *low = drain->pages_low.memory, *high = drain->pages_high.memory;

    return low[page][bucket] | (uint32_t)high[page][bucket] << 16;
}

static void see_count(struct drain *drain, uint32_t page, unsigned bucket, uint32_t count)
{
    seen_half *low = drain->pages_low.memory, *high = drain->pages_high.memory;

    low[page][bucket] = (uint16_t)count;
    if (high[page][bucket] != count >> 16)
        high[page][bucket] = (uint16_t)(count >> 16);
}

int drain_rows_open(struct drain *drain)
{
    const struct table *table = drain->from.tables->table;
    int err = sparse_open(&drain->rows, table[ABI_TABLE_ROWS].entries * sizeof(struct seen_row));

    if (!err)
        err = sparse_open(&drain->pages_low, table[ABI_TABLE_PAGES].entries * sizeof(seen_half));
    return err ? err : sparse_open(&drain->pages_high, table[ABI_TABLE_PAGES].entries * sizeof(seen_half));
}

void drain_rows_close(struct drain *drain)
{
    sparse_close(&drain->rows);
    sparse_close(&drain->pages_low);
    sparse_close(&drain->pages_high);
}

void drain_rows_tidy(struct drain *drain)
{
    sparse_tidy(&drain->rows);
    sparse_tidy(&drain->pages_low);
    sparse_tidy(&drain->pages_high);
}

bool drain_row_changed(const struct drain *drain, uint32_t index)
{
    return *(volatile uint32_t *)&row_at(drain->from.tables, index)->touched != seen_row(drain, index)->touched ||
           slots_waiting(drain->slots, index);
}

/* A page of a row's by its place in the row; 0: none is known there. */
static uint32_t page_in(const struct drain *drain, const uint32_t *place)
{
    uint32_t index = __atomic_load_n(place, __ATOMIC_ACQUIRE);

    return index < drain->from.tables->table[ABI_TABLE_PAGES].entries ? index : 0;
}

static unsigned octave_of(unsigned latency_bucket)
{
    return abi_octave(latency_bucket / BUCKET_SUB);
}

/* Where the increments of a row's pages go. */
struct sink {
    struct histogram *histogram; /* NULL: nowhere else than to what follows */
    uint32_t *octaves;           /* of latencies; NULL for sizes */
    struct histogram *joint;     /* of transfers; NULL: nowhere */
    unsigned kind;               /* in it */
    enum joint which;
};

static int pour(const struct sink *to, unsigned bucket, uint32_t count)
{
    int err = 0;

    if (to->joint)
        err = joint_add(to->joint, to->which, to->kind, bucket, count);
    if (!err && to->histogram)
        err = histogram_add_bucket(to->histogram, bucket, count);
    if (!err && to->octaves)
        to->octaves[octave_of(bucket)] += count;
    return err;
}

/* The increments of one page since last time, from that bucket on. Counts wrap at 2^32, differences do not. */
static int drain_page(struct drain *drain, uint32_t index, unsigned bucket, const struct sink *to)
{
    const volatile struct abi_page *page = page_at(drain->from.tables, index);

    for (unsigned i = 0; i < ABI_PAGE_BUCKETS; i++) {
        uint32_t now = page->count[i], more = now - seen_count(drain, index, i);
        int err;

        if (!more)
            continue;
        err = pour(to, bucket + i, more);
        if (err)
            return err;
        see_count(drain, index, i, now);
    }
    return 0;
}

static int drain_pages(struct drain *drain, const uint32_t *indices, unsigned count, const struct sink *to)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t index = page_in(drain, &indices[i]);
        int err = index ? drain_page(drain, index, i * ABI_PAGE_BUCKETS, to) : 0;

        if (err)
            return err;
    }
    return 0;
}

/* The indices of the pages of transfers that jumped; all 0 while the row has none. */
static uint32_t *jump_pages(const struct drain *drain, const struct abi_row *row)
{
    return page_at(drain->from.tables, row->jumps < drain->from.tables->table[ABI_TABLE_PAGES].entries ? row->jumps : 0)->count;
}

/* Those that jumped first: while they are read, no more of a size may have jumped than there are. */
static int drain_sizes(struct drain *drain, const struct abi_row *row, struct record *record)
{
    unsigned kind = record->op == OP_READ ? row->file_size : ABI_FILE_NO_SIZE;
    struct sink all = {.histogram = &record->size, .joint = kind ? &record->joint : NULL, .kind = kind, .which = JOINT_ALL};
    struct sink jumped = {.joint = &record->joint, .kind = kind, .which = JOINT_JUMPED};
    int err = row->jumps ? drain_pages(drain, jump_pages(drain, row), ABI_JUMP_PAGES, &jumped) : 0;

    return err ? err : drain_pages(drain, row->size_page, ABI_SIZE_PAGES, &all);
}

void drain_row_seen(void *context, uint32_t index, struct increase *increase)
{
    const struct drain *drain = context;
    const struct abi_row *row = row_at(drain->from.tables, index);
    const struct seen_row *seen = seen_row(drain, index);

    *increase = (struct increase){.bytes = seen->bytes, .ops = seen->touched};
    for (unsigned i = 0; i < ABI_LATENCY_PAGES; i++) {
        uint32_t page = page_in(drain, &row->latency_page[i]);

        for (unsigned j = 0; page && j < ABI_PAGE_BUCKETS; j++)
            increase->octave[octave_of(i * ABI_PAGE_BUCKETS + j)] += seen_count(drain, page, j);
    }
}

/* Adds what stands in no place of a row's orders, of which there are so many by now. While a row changes, what it says of
   operations is ahead of their number, never behind. */
static void add_others(struct seen_row *seen, uint32_t others, uint64_t *to)
{
    if ((int32_t)(others - seen->others) > 0) { /* modulo 2^32 */
        *to += others - seen->others;
        seen->others = others;
    }
}

/* Of what files seeks and closes were that have succeeded since before. */
static void add_files(struct seen_row *seen, const struct seen_row *before, struct record *record)
{
    uint32_t others = seen->touched - seen->errors;

    for (unsigned i = 0; i < FILE_SIZES; i++) {
        record->file_size[i] += seen->order[ABI_FILE_SMALL + i] - before->order[ABI_FILE_SMALL + i];
        others -= seen->order[ABI_FILE_SMALL + i];
    }
    add_others(seen, others, &record->order[ORDER_OF_OTHERS]);
}

/* Likewise, what stats described; those by name stand where what jumps does. 0 or -ENOMEM. */
static int add_described(const struct seen_row *seen, const struct seen_row *before, struct record *record)
{
    int err = 0;

    for (unsigned i = 1; i < ABI_ORDERS && !err; i++) {
        unsigned kind = i % ABI_FILE_SIZES;
        uint32_t more = seen->order[i] - before->order[i];

        if (!kind || !more)
            continue;
        err = joint_add(&record->joint, JOINT_ALL, kind, 0, more);
        if (!err && i < ABI_OF_OPEN)
            err = joint_add(&record->joint, JOINT_JUMPED, kind, 0, more);
    }
    return err;
}

/* Of what has a name, and of what is open, the failed ones as well. */
static void add_stats(struct seen_row *seen, const struct seen_row *before, struct record *record)
{
    uint32_t others = seen->touched;

    for (unsigned i = 1; i < ABI_ORDERS; i++) {
        record->order[i < ABI_OF_OPEN ? ORDER_BY_NAME : ORDER_OF_OPEN] += seen->order[i] - before->order[i];
        others -= seen->order[i];
    }
    add_others(seen, others, &record->order[ORDER_BY_NAME]);
}

/* What is new in a row that was read as now; news: the same, for its slots. */
static int drain_counts(struct drain *drain, uint32_t index, const struct slots_row *now, struct record *record,
                        struct increase *news)
{
    const volatile struct abi_row *row = row_at(drain->from.tables, index);
    const struct sink latencies = {.histogram = &record->latency_ns, .octaves = news->octave};
    struct seen_row *seen = seen_row(drain, index);
    struct seen_row before = *seen;
    uint64_t moved = histogram_filled(&record->size);
    int err;

    seen->latency_sum_ns = row->latency_sum_ns;
    seen->errors = row->errors;
    for (unsigned i = 1; i < ABI_ORDERS; i++)
        seen->order[i] = row->order[i];
    err = drain_sizes(drain, (const struct abi_row *)row, record);
    if (!err)
        err = drain_pages(drain, (const uint32_t *)row->latency_page, ABI_LATENCY_PAGES, &latencies);
    if (!err && record->op == OP_STAT)
        err = add_described(seen, &before, record);
    if (err) { /* these counts come with the next batch */
        *seen = before;
        return err;
    }
    seen->bytes = now->bytes;
    seen->touched = now->ops;
    news->bytes = seen->bytes - before.bytes;
    news->ops = seen->touched - before.touched;
    record->bytes += news->bytes;
    record->latency_sum_ns += seen->latency_sum_ns - before.latency_sum_ns;
    record->errors += seen->errors - before.errors; /* modulo 2^32 */
    if (operation_tells_file_size(record->op))
        add_files(seen, &before, record);
    else if (record->op == OP_STAT)
        add_stats(seen, &before, record);
    else
        for (unsigned i = 0; i < ORDER_COUNT; i++)
            record->order[i] += seen->order[ABI_SEQUENTIAL + i] - before.order[ABI_SEQUENTIAL + i];
    if (row->file_size != ABI_FILE_NO_SIZE)
        record->file_size[row->file_size - ABI_FILE_SMALL] += histogram_filled(&record->size) - moved;
    return 0;
}

int drain_row(struct drain *drain, uint32_t index, enum operation op, const struct drain_target *to)
{
    const struct abi_row *row = row_at(drain->from.tables, index);
    struct slots_row now = slots_read(drain->slots, row);
    struct batch *batch = to->batch;
    struct increase news = {0};
    uint32_t volume;
    int err = volumes_name(drain->from.volumes, row->volume, batch, &volume);

    if (!err && now.ops != seen_row(drain, index)->touched) {
        struct record *record = NULL;
        uint64_t ops;

        err = batch_record(batch, to->job, volume, to->process, op, &record);
        if (err)
            return err;
        ops = row->volume == ABI_VOLUME_UNKNOWN ? record_ops(record) : 0;
        err = drain_counts(drain, index, &now, record, &news);
        if (!err && row->volume == ABI_VOLUME_UNKNOWN)
            batch->coverage.unattributed += record_ops(record) - ops;
        if (!err && op == OP_WRITE)
            err = passed_add(&drain->passed, process_at(drain->from.tables, to->owner), batch, record, news.bytes);
    }
    return err ? err : slots_add(drain->slots, index, now.slot_end_ns, op, &news, to->job, volume, batch,
                                 drain->bursts);
}

static void recycle_pages(struct drain *drain, const uint32_t *indices, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (indices[i]) {
            for (unsigned j = 0; j < ABI_PAGE_BUCKETS; j++)
                see_count(drain, indices[i], j, 0);
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
                if (row->jumps) {
                    recycle_pages(drain, jump_pages(drain, row), ABI_JUMP_PAGES);
                    table_give(tables, ABI_TABLE_PAGES, row->jumps);
                }
            }
            details_forget(drain->details, at);
            memset(seen_row(drain, at), 0, sizeof(struct seen_row));
            slots_forget(drain->slots, at);
            table_give(tables, ABI_TABLE_ROWS, at);
        }
    table_give(tables, ABI_TABLE_THREADS, index);
}
