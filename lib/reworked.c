/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/reworked.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/order.h"

/* One entry of the batch's processes, which may be a thread: what all of its process did is in the first of them. */
struct worker {
    const struct process *process;
    uint64_t read, written;
    uint64_t seen; /* of what was written, so far */
};

static int by_process(const void *a, const void *b)
{
    const struct process *x = ((const struct worker *)a)->process, *y = ((const struct worker *)b)->process;

    return ORDER(x->pid, y->pid) ?: ORDER(x->start_ns, y->start_ns);
}

static bool has_threads(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->process_count; i++)
        if (batch->processes[i].tid)
            return true;
    return false;
}

/* *of: by index. Both are the caller's to free. */
static int find_workers(const struct batch *batch, struct worker **sorted, struct worker ***of)
{
    uint32_t count = batch->process_count;
    struct worker *workers = *sorted = calloc(count, sizeof(*workers)), *first = workers;

    *of = calloc(count, sizeof(struct worker *));
    if (!workers || !*of)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        workers[i].process = &batch->processes[i];
    if (has_threads(batch)) /* else no two are of one process */
        qsort(workers, count, sizeof(*workers), by_process);
    for (uint32_t i = 0; i < count; i++) {
        if (by_process(first, &workers[i]) != 0)
            first = &workers[i];
        (*of)[workers[i].process - batch->processes] = first;
    }
    return 0;
}

/* The part of what the worker read that is up to here; all of it at its last write. */
static uint64_t up_to(const struct worker *worker)
{
    return worker->seen < worker->written
               ? (uint64_t)((double)worker->read * ((double)worker->seen / (double)worker->written))
               : worker->read;
}

int reworked_of(const struct batch *batch, uint64_t **out)
{
    _cleanup_free_ struct worker *sorted = NULL, **of = NULL;
    uint64_t *reworked;

    *out = NULL;
    if (!batch->process_count)
        return 0;
    if (find_workers(batch, &sorted, &of))
        return -ENOMEM;
    reworked = calloc(batch->record_count + 1, sizeof(*reworked));
    if (!reworked)
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (record->process == NO_INDEX)
            continue;
        if (record->op == OP_READ || record->op == OP_MMAP_FAULT)
            of[record->process]->read += record->bytes;
        else if (record->op == OP_WRITE)
            of[record->process]->written += record->bytes;
    }
    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        struct worker *worker;
        uint64_t before;

        if (record->process == NO_INDEX || record->op != OP_WRITE || !record->bytes)
            continue;
        worker = of[record->process];
        before = up_to(worker);
        worker->seen += record->bytes;
        reworked[i] = up_to(worker) - before;
    }
    *out = reworked;
    return 0;
}
