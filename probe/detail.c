/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/detail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/sparse.h"

/* Of a thread's reads on a volume, what was handed out last time: kept with the oldest of their rows, of which there is one
   for each kind of files. */
struct seen_hits {
    uint64_t ops, bytes;
    uint32_t touched;
};

union seen {
    struct abi_detail detail;
    struct seen_hits hits;
};

struct details {
    struct tables *tables;
    struct volumes *volumes;
    bool cache;
    struct sparse seen; /* union seen, by row */
};

static union seen *seen_of(const struct details *details, uint32_t row)
{
    return (union seen *)details->seen.memory + row;
}

int details_new(struct tables *tables, struct volumes *volumes, struct details **out)
{
    struct details *details = calloc(1, sizeof(*details));

    if (!details)
        return -ENOMEM;
    *details = (struct details){.tables = tables, .volumes = volumes};
    if (sparse_open(&details->seen, tables->table[ABI_TABLE_ROWS].entries * sizeof(union seen))) {
        free(details);
        return -ENOMEM;
    }
    *out = details;
    return 0;
}

void details_free(struct details *details)
{
    if (!details)
        return;
    sparse_close(&details->seen);
    free(details);
}

void details_tidy(struct details *details)
{
    sparse_tidy(&details->seen);
}

void details_know_cache(struct details *details)
{
    details->cache = true;
}

void details_forget(struct details *details, uint32_t row)
{
    memset(seen_of(details, row), 0, sizeof(union seen));
}

static const volatile struct abi_detail *detail_at(const struct details *details, uint32_t index)
{
    return (const volatile struct abi_detail *)row_at(details->tables, index);
}

/* The chain of an operation's rows, or of details; 0 ends it. */
static uint32_t first_of(const struct details *details, const struct abi_thread *thread, enum operation op)
{
    uint32_t index = __atomic_load_n(&thread->head[op], __ATOMIC_ACQUIRE);

    return index < details->tables->table[ABI_TABLE_ROWS].entries ? index : 0;
}

static uint32_t next_of(const struct details *details, uint32_t row)
{
    uint32_t index = row_at(details->tables, row)->next;

    return index < details->tables->table[ABI_TABLE_ROWS].entries ? index : 0;
}

bool details_changed(const struct details *details, const struct abi_thread *thread)
{
    for (uint32_t i = first_of(details, thread, OP_NONE); i; i = next_of(details, i))
        if (detail_at(details, i)->touched != seen_of(details, i)->detail.touched)
            return true;
    return false;
}

/* The record of an operation on the row's volume. */
static int find_record(const struct details *details, uint64_t key, enum operation op,
                       const struct drain_target *to, struct record **record)
{
    uint32_t volume;
    int err = volumes_name(details->volumes, key, to->batch, &volume);

    return err ? err : batch_record(to->batch, to->job, volume, to->process, op, record);
}

static int drain_failures(const struct details *details, const struct abi_detail *now, const struct abi_detail *seen,
                          const struct drain_target *to)
{
    for (unsigned i = 0; i < ABI_FAILURES && now->failures[i].count; i++) {
        const struct abi_failure *failure = &now->failures[i];
        uint32_t more = failure->count - seen->failures[i].count;
        struct record *record;
        int err;

        if (!more)
            continue;
        err = find_record(details, now->volume, failure->op, to, &record);
        if (!err && failure->code < ERROR_CODES)
            err = histogram_add_bucket(&record->error_codes, failure->code, more);
        if (err)
            return err;
    }
    return 0;
}

static int drain_faults(const struct details *details, const struct abi_detail *now, const struct abi_detail *seen,
                        const struct drain_target *to)
{
    const uint64_t more[FAULT_KINDS] = {
        [FAULT_READ] = now->read_faults - seen->read_faults,
        [FAULT_WRITE] = now->write_faults - seen->write_faults,
        [FAULT_MINOR] = now->minor_faults - seen->minor_faults,
    };
    struct record *record;
    int err;

    if (!more[FAULT_READ] && !more[FAULT_WRITE] && !more[FAULT_MINOR])
        return 0;
    err = find_record(details, now->volume, OP_MMAP_FAULT, to, &record);
    for (unsigned i = 0; !err && i < FAULT_KINDS; i++)
        record->faults[i] += more[i];
    return err;
}

static int drain_misses(const struct details *details, const struct abi_detail *now, const struct abi_detail *seen,
                        const struct drain_target *to)
{
    struct record *record;
    int err;

    if (!details->cache || now->missed_ops == seen->missed_ops || !volumes_cached(details->volumes, now->volume))
        return 0;
    err = find_record(details, now->volume, OP_READ, to, &record);
    if (err)
        return err;
    record->cache[CACHE_MISS_OPS] += now->missed_ops - seen->missed_ops;
    record->cache[CACHE_MISS_BYTES] += now->missed_bytes - seen->missed_bytes;
    return 0;
}

static int drain_received(const struct details *details, const struct abi_detail *now, const struct abi_detail *seen,
                          const struct drain_target *to)
{
    struct record *record;
    int err;

    if (now->received_bytes == seen->received_bytes)
        return 0;
    err = find_record(details, now->volume, OP_WRITE, to, &record);
    if (!err)
        record->cache[CACHE_RECEIVED_BYTES] += now->received_bytes - seen->received_bytes;
    return err;
}

static const volatile struct abi_detail *detail_of(const struct details *details, const struct abi_thread *thread,
                                                   uint64_t volume)
{
    for (uint32_t i = first_of(details, thread, OP_NONE); i; i = next_of(details, i))
        if (detail_at(details, i)->volume == volume)
            return detail_at(details, i);
    return NULL;
}

/* A thread's reads on a volume, of which it is known where they start; their oldest row is returned. */
static uint32_t sum_reads(const struct details *details, const struct abi_thread *thread, uint64_t volume,
                          struct seen_hits *reads)
{
    uint32_t oldest = 0;

    *reads = (struct seen_hits){0};
    for (uint32_t i = first_of(details, thread, OP_READ); i; i = next_of(details, i)) {
        const volatile struct abi_row *row = row_at(details->tables, i);

        if (row->volume != volume)
            continue;
        oldest = i;
        reads->touched += row->touched;
        reads->bytes += row->bytes;
        for (unsigned order = ABI_SEQUENTIAL; order <= ABI_RANDOM; order++)
            reads->ops += row->order[order];
    }
    return oldest;
}

/*
 * Hits are what is left of a volume's reads without the misses and those that are not known. The rows are read before the
 * detail, which is written before them: so there may be too few for the moment, and never too many.
 */
static int drain_hits(struct details *details, const struct abi_thread *thread, uint32_t index,
                      const struct drain_target *to)
{
    const volatile struct abi_row *row = row_at(details->tables, index);
    struct seen_hits *seen = &seen_of(details, index)->hits, reads;
    const volatile struct abi_detail *detail;
    uint64_t ops, bytes, other_ops = 0, other_bytes = 0;
    struct record *record;
    int32_t hits; /* what orders count is modulo 2^32 */
    int err;

    if (sum_reads(details, thread, row->volume, &reads) != index || reads.touched == seen->touched ||
        !volumes_cached(details->volumes, row->volume))
        return 0;
    ops = reads.ops;
    bytes = reads.bytes;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    detail = detail_of(details, thread, row->volume);
    seen->touched = reads.touched;
    if (__atomic_load_n(&thread->undetailed, __ATOMIC_RELAXED))
        return 0; /* misses may be among them */
    if (detail) {
        other_ops = detail->missed_ops + detail->unknown_ops;
        other_bytes = detail->missed_bytes + detail->unknown_bytes;
    }
    hits = (int32_t)(uint32_t)(ops - other_ops - seen->ops);
    if (hits <= 0 || bytes < seen->bytes + other_bytes)
        return 0;
    err = find_record(details, row->volume, OP_READ, to, &record);
    if (err)
        return err;
    record->cache[CACHE_HIT_OPS] += (uint64_t)hits;
    record->cache[CACHE_HIT_BYTES] += bytes - other_bytes - seen->bytes;
    seen->ops = ops - other_ops;
    seen->bytes = bytes - other_bytes;
    return 0;
}

int details_drain(struct details *details, const struct abi_thread *thread, const struct drain_target *target)
{
    int err = 0;

    if (details->cache)
        for (uint32_t i = first_of(details, thread, OP_READ); i && !err; i = next_of(details, i))
            err = drain_hits(details, thread, i, target);
    for (uint32_t i = first_of(details, thread, OP_NONE); i && !err; i = next_of(details, i)) {
        struct abi_detail *seen = &seen_of(details, i)->detail, now;

        memcpy(&now, row_at(details->tables, i), sizeof(now));
        if (now.touched == seen->touched)
            continue;
        err = drain_failures(details, &now, seen, target);
        if (!err)
            err = drain_faults(details, &now, seen, target);
        if (!err)
            err = drain_misses(details, &now, seen, target);
        if (!err)
            err = drain_received(details, &now, seen, target);
        if (!err)
            *seen = now;
    }
    return err;
}
