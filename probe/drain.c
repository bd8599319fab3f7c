/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "probe/drain_private.h"
#include "probe/pending.h"

int drain_new(const struct drain_sources *sources, struct drain **out)
{
    struct drain *drain = calloc(1, sizeof(*drain));
    int err;

    if (!drain)
        return -ENOMEM;
    drain->from = *sources;
    if (drain_rows_open(drain) || details_new(sources->tables, sources->volumes, &drain->details) ||
        shared_rows_new(sources->shared_map, sources->last_map, &drain->shared) ||
        bursts_new(sources->burst_factor, &drain->bursts) ||
        opened_new(sources->told_map, &drain->opened) || hung_new(&drain->hung) ||
        flight_new(sources->tables, sources->volumes, sources->origin, sources->finder, drain->hung, &drain->flight)) {
        drain_free(drain);
        return -ENOMEM;
    }
    err = slots_new(sources->slots_map, sources->phase_map, sources->tables->table[ABI_TABLE_ROWS].entries,
                    drain_row_seen, drain, &drain->slots);
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
    drain_rows_close(drain);
    details_free(drain->details);
    shared_rows_free(drain->shared);
    slots_free(drain->slots);
    bursts_free(drain->bursts);
    flight_free(drain->flight);
    hung_free(drain->hung);
    opened_free(drain->opened);
    passed_clear(&drain->passed);
    free(drain);
}

static int drain_thread(struct drain *drain, uint32_t index, struct batch *batch)
{
    const struct tables *tables = drain->from.tables;
    struct abi_thread *thread = thread_at(tables, index);
    struct drain_target to = {.batch = batch, .process = NO_INDEX, .owner = thread->process};
    bool named = false;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        uint32_t row = __atomic_load_n(&thread->head[op], __ATOMIC_ACQUIRE);

        for (; row && row < tables->table[ABI_TABLE_ROWS].entries; row = row_at(tables, row)->next) {
            int err = 0;

            if (!drain_row_changed(drain, row))
                continue;
            if (!named)
                err = drain_process(drain, thread->process, thread->pid, batch, &to.process, &to.job);
            named = true;
            if (!err)
                err = drain_row(drain, row, op, &to);
            if (err)
                return err;
        }
    }
    if (!named) {
        int err;

        if (!details_changed(drain->details, thread))
            return 0;
        err = drain_process(drain, thread->process, thread->pid, batch, &to.process, &to.job);
        if (err)
            return err;
    }
    return details_drain(drain->details, thread, &to);
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
    err = drain_series(drain, thread->process, thread->pid, flight_volume(drain->flight, thread, since_ns), op, batch,
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
            drain_recycle(drain, i);
        else
            err = drain_pending(drain, thread, now_ns, batch);
        if (err)
            return err;
    }
    return 0;
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
        err = opened_drain(drain->opened, drain_file_owner, drain, batch);
    if (!err)
        err = drain_threads(drain, batch);
    passed_share(&drain->passed, batch); /* of what was drained, whatever went wrong: the next batch is another one */
    drain->slot = slots_now(drain->slots);
    if (!err)
        err = bursts_judge(drain->bursts, batch, drain->slot);
    if (!err && drain->from.trees)
        err = trees_drain(drain->from.trees, &(struct trees_owners){drain_tree_owner, drain_tree_gone, drain}, batch);
    if (!err)
        err = pending_drain(drain->from.async_map, drain->since_ns, monotonic_ns(), drain_process_series, drain, batch);
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
    drain_rows_tidy(drain);
    details_tidy(drain->details);
    slots_tidy(drain->slots);
    drain_counters(drain, batch);
    return 0;
}
