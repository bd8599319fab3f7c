/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/drain.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "probe/detail.h"
#include "probe/flight.h"
#include "probe/opened.h"
#include "probe/pending.h"
#include "probe/shared.h"
#include "probe/slots.h"
#include "probe/sparse.h"

static_assert(ABI_ORDERS - ABI_SEQUENTIAL == ORDER_COUNT && ABI_CONSECUTIVE - ABI_SEQUENTIAL == ORDER_CONSECUTIVE &&
                  ABI_RANDOM - ABI_SEQUENTIAL == ORDER_RANDOM,
              "orders are numbered alike on both sides");

/* What was seen of a row last time. */
struct seen_row {
    uint64_t bytes, latency_sum_ns, errors;
    uint64_t order[ABI_ORDERS];
    uint32_t touched;
};

struct drain {
    struct drain_sources from;
    struct sparse rows, pages; /* struct seen_row by row, struct abi_page by page */
    struct details *details;
    struct shared_rows *shared;
    struct slots *slots;
    struct bursts *bursts;
    struct hung *hung;
    struct flight *flight;
    struct opened *opened;
    int64_t slot; /* of the last drain */
    uint64_t counters[ABI_COUNTERS];
    enum grain grain;
    uint64_t since_ns; /* calls that began before are not waited for */
    int64_t boot_to_wall_ns;
};

static struct seen_row *seen_row(const struct drain *drain, uint32_t row)
{
    return (struct seen_row *)drain->rows.memory + row;
}

static struct abi_page *seen_page(const struct drain *drain, uint32_t page)
{
    return (struct abi_page *)drain->pages.memory + page;
}

int drain_new(const struct drain_sources *sources, struct drain **out)
{
    struct drain *drain = calloc(1, sizeof(*drain));
    int err;

    if (!drain)
        return -ENOMEM;
    drain->from = *sources;
    if (sparse_open(&drain->rows, sources->tables->table[ABI_TABLE_ROWS].entries * sizeof(struct seen_row)) ||
        sparse_open(&drain->pages, sources->tables->table[ABI_TABLE_PAGES].entries * sizeof(struct abi_page)) ||
        details_new(sources->tables, sources->volumes, &drain->details) ||
        shared_rows_new(sources->shared_map, sources->last_map, &drain->shared) ||
        bursts_new(sources->burst_factor, &drain->bursts) ||
        opened_new(sources->told_map, &drain->opened) || hung_new(&drain->hung) ||
        flight_new(sources->tables, sources->volumes, sources->origin, sources->finder, drain->hung, &drain->flight)) {
        drain_free(drain);
        return -ENOMEM;
    }
    err = slots_new(sources->slots_map, sources->phase_map, sources->tables->table[ABI_TABLE_ROWS].entries,
                    &drain->slots);
    if (err) {
        drain_free(drain);
        return err;
    }
    drain->slot = slots_now(drain->slots);
    drain->grain = GRAIN_PROCESSES;
    *out = drain;
    return 0;
}

void drain_free(struct drain *drain)
{
    if (!drain)
        return;
    sparse_close(&drain->rows);
    sparse_close(&drain->pages);
    details_free(drain->details);
    shared_rows_free(drain->shared);
    slots_free(drain->slots);
    bursts_free(drain->bursts);
    flight_free(drain->flight);
    hung_free(drain->hung);
    opened_free(drain->opened);
    free(drain);
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

static int drain_row(struct drain *drain, uint32_t index, enum operation op, uint32_t process,
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

/* Gives back a dead thread with its rows; they have been drained. */
static void recycle_thread(struct drain *drain, uint32_t index)
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

/* The batch's entry for a process, or for a thread of it (0: none), made when its first changed row turns up. */
static int name_process(struct drain *drain, uint32_t index, uint32_t tid, struct batch *batch, uint32_t *process,
                        uint32_t *job)
{
    struct abi_process *from = process_at(drain->from.tables, index);
    char command[sizeof(from->comm) + 1];
    struct process to;
    uint32_t id;
    int err = finder_job(drain->from.finder, index, from, &id);

    if (err)
        return err;
    memcpy(command, from->comm, sizeof(from->comm));
    command[sizeof(from->comm)] = '\0';
    err = origin_name(drain->from.origin, id, from->uid, command, batch, job);
    if (err || drain->grain < GRAIN_PROCESSES)
        return err;
    to = (struct process){
        .pid = from->tgid,
        .tid = drain->grain < GRAIN_THREADS ? 0 : tid & ~ABI_DEAD,
        .uid = from->uid,
        .start_ns = (int64_t)from->start_ns + drain->boot_to_wall_ns,
        .command = command,
        .job = *job,
        .exited = from->exited,
    };
    return batch_process(batch, &to, process);
}

static int drain_thread(struct drain *drain, uint32_t index, struct batch *batch)
{
    const struct tables *tables = drain->from.tables;
    struct abi_thread *thread = thread_at(tables, index);
    uint32_t process = NO_INDEX, job = 0;
    bool named = false;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        uint32_t row = __atomic_load_n(&thread->head[op], __ATOMIC_ACQUIRE);

        for (; row && row < tables->table[ABI_TABLE_ROWS].entries; row = row_at(tables, row)->next) {
            int err = 0;

            if (*(volatile uint32_t *)&row_at(tables, row)->touched == seen_row(drain, row)->touched &&
                !slots_waiting(drain->slots, row))
                continue;
            if (!named)
                err = name_process(drain, thread->process, thread->pid, batch, &process, &job);
            named = true;
            if (!err)
                err = drain_row(drain, row, op, process, job, batch);
            if (err)
                return err;
        }
    }
    if (process == NO_INDEX) {
        int err = details_changed(drain->details, thread)
                      ? name_process(drain, thread->process, thread->pid, batch, &process, &job)
                      : 0;

        if (err || process == NO_INDEX)
            return err;
    }
    return details_drain(drain->details, thread,
                         &(struct detail_target){.batch = batch, .process = process, .job = job});
}

static int find_series(struct drain *drain, uint32_t index, uint32_t tid, uint64_t volume_key, enum operation op,
                       struct batch *batch, struct record **record)
{
    uint32_t process = NO_INDEX, job, volume;
    int err = name_process(drain, index, tid, batch, &process, &job);

    if (!err)
        err = volumes_name(drain->from.volumes, volume_key, batch, &volume);
    return err ? err : batch_record(batch, job, volume, process, op, record);
}

static int find_process_series(void *context, uint32_t index, uint64_t volume_key, enum operation op,
                               struct batch *batch, struct record **record)
{
    return find_series(context, index, 0, volume_key, op, batch, record);
}

/* A call that has not returned yet: its series shows it while it hangs. */
static int drain_pending(struct drain *drain, const struct abi_thread *thread, int64_t now_ns,
                         struct batch *batch)
{
    enum operation op = __atomic_load_n(&thread->pending_op, __ATOMIC_ACQUIRE);
    uint64_t since_ns = thread->pending_ns, age_ns;
    struct record *record;
    int err;

    if (!op || op >= OP_FILE_END || since_ns < drain->since_ns)
        return 0;
    err = find_series(drain, thread->process, thread->pid, flight_volume(drain->flight, thread, since_ns), op, batch,
                      &record);
    if (err)
        return err;
    age_ns = now_ns > (int64_t)since_ns ? (uint64_t)now_ns - since_ns : 0;
    record->in_flight++;
    record->in_flight_ns += age_ns;
    if (age_ns > record->oldest_ns)
        record->oldest_ns = age_ns;
    batch->coverage.in_flight++;
    return 0;
}

static int drain_threads(struct drain *drain, struct batch *batch)
{
    struct table *table = &drain->from.tables->table[ABI_TABLE_THREADS];
    int64_t now_ns = monotonic_ns();

    table_find_high(table);
    for (uint32_t i = 1; i <= table->high; i++) {
        struct abi_thread *thread = thread_at(drain->from.tables, i);
        /* Read before the rows: a thread that is dead now has written them for the last time. */
        uint32_t dead = __atomic_load_n(&thread->dead, __ATOMIC_ACQUIRE);
        int err;

        if (!thread->process)
            continue;
        err = drain_thread(drain, i, batch);
        if (err)
            return err;
        if (dead)
            recycle_thread(drain, i);
        else
            err = drain_pending(drain, thread, now_ns, batch);
        if (err)
            return err;
    }
    return 0;
}

static int owner_of(void *context, const struct abi_file_told *told, struct batch *batch, struct opened_by *owner)
{
    struct drain *drain = context;
    uint32_t process = NO_INDEX;
    int err = 0;

    if (told->process)
        err = name_process(drain, told->process, 0, batch, &process, &owner->job);
    if (drain->from.trees)
        owner->tree = trees_name(drain->from.trees, told->tree);
    return err ? err : volumes_name(drain->from.volumes, told->key.volume, batch, &owner->volume);
}

/* Whose a tree is. */
static int tree_owner(void *context, const struct abi_tree_key *key, struct batch *batch, uint32_t *job,
                      uint32_t *volume)
{
    struct drain *drain = context;
    struct job *known = key->job ? origin_find(drain->from.origin, key->job) : NULL;
    uint32_t process = NO_INDEX;
    int err = 0;

    *job = NO_INDEX;
    if (known)
        err = batch_job(batch, known, job);
    else if (key->process)
        err = name_process(drain, key->process, 0, batch, &process, job);
    return err ? err : volumes_name(drain->from.volumes, key->volume, batch, volume);
}

/* Whether nobody counts in it any more: its process is gone, or its job has long been. */
static bool tree_gone(void *context, const struct abi_tree_key *key)
{
    const struct drain *drain = context;

    if (!key->job)
        return process_at(drain->from.tables, key->process)->exited != 0;
    return key->job & ABI_JOB_FOUND && !origin_find(drain->from.origin, key->job);
}

static void drain_counters(struct drain *drain, struct batch *batch)
{
    uint64_t now[ABI_COUNTERS];

    for (int i = 0; i < ABI_COUNTERS; i++)
        now[i] = drain->from.tables->counters[i];
    batch->coverage.killed += now[ABI_COUNTER_KILLED] - drain->counters[ABI_COUNTER_KILLED];
    batch->coverage.overflow += now[ABI_COUNTER_OVERFLOW] - drain->counters[ABI_COUNTER_OVERFLOW];
    batch->coverage.lost += now[ABI_COUNTER_LOST] - drain->counters[ABI_COUNTER_LOST];
    batch->coverage.lost += now[ABI_COUNTER_COMPAT] - drain->counters[ABI_COUNTER_COMPAT];
    memcpy(drain->counters, now, sizeof(now));
}

void drain_set_grain(struct drain *drain, enum grain grain, uint64_t since_ns)
{
    drain->grain = grain;
    drain->since_ns = since_ns;
}

void drain_know_cache(struct drain *drain)
{
    details_know_cache(drain->details);
}

int drain_look(struct drain *drain)
{
    int err = slots_collect(drain->slots);

    if (!err)
        err = opened_collect(drain->opened);
    return err ? err : flight_look(drain->flight);
}

/* What was in flight when this batch was drained into before is not any more, or is counted again. */
static void forget_pending(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->record_count; i++)
        batch->records[i].in_flight = batch->records[i].in_flight_ns = batch->records[i].oldest_ns = 0;
    batch->coverage.in_flight = 0;
}

int drain_run(struct drain *drain, struct batch *batch)
{
    struct table *processes = &drain->from.tables->table[ABI_TABLE_PROCESSES];
    _cleanup_free_ unsigned char *gone = NULL;
    int64_t before = drain->slot;
    int err = slots_collect(drain->slots);

    if (err)
        return err;
    forget_pending(batch);
    if (!drain->boot_to_wall_ns) /* once: a process must keep its start time when the clock is set */
        drain->boot_to_wall_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
    table_find_high(processes);
    gone = calloc(processes->high + 1, 1);
    if (!gone)
        return -ENOMEM;
    /* A process that has exited by now has no living threads: after this round nothing points to it. */
    for (uint32_t i = 1; i <= processes->high; i++)
        gone[i] = process_at(drain->from.tables, i)->exited != 0;
    err = flight_report(drain->flight, batch);
    if (!err)
        err = opened_drain(drain->opened, owner_of, drain, batch);
    if (!err)
        err = drain_threads(drain, batch);
    drain->slot = slots_now(drain->slots);
    if (!err)
        err = bursts_judge(drain->bursts, batch, drain->slot);
    if (!err && drain->from.trees)
        err = trees_drain(drain->from.trees, &(struct trees_owners){tree_owner, tree_gone, drain}, batch);
    if (!err)
        err = pending_drain(drain->from.async_map, drain->since_ns, monotonic_ns(), find_process_series, drain, batch);
    if (!err)
        err = shared_rows_drain(drain->shared, drain->from.volumes, drain->from.origin, before, drain->slot,
                                batch);
    if (err)
        return err;
    for (uint32_t i = 1; i <= processes->high; i++)
        if (gone[i])
            table_give(drain->from.tables, ABI_TABLE_PROCESSES, i);
    for (enum abi_table which = 0; which < ABI_TABLES; which++)
        table_return(drain->from.tables, which);
    sparse_tidy(&drain->rows);
    sparse_tidy(&drain->pages);
    details_tidy(drain->details);
    slots_tidy(drain->slots);
    drain_counters(drain, batch);
    return 0;
}
