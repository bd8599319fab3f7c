/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of a job, each by volume. */
#include "analyzer/aggregate_private.h"

#include <errno.h>
#include <string.h>

static struct unit *new_unit(struct aggregate *a, struct job_total *job, const struct batch *batch,
                              const struct process *from, const char *volume, uint32_t first, uint32_t hash)
{
    struct unit *unit;

    if (RESERVE(job->units, job->unit, sizeof(*unit)) || lookup_reserve(&job->unit_index))
        return NULL;
    unit = &job->units[job->unit_count];
    unit->pid = from->pid;
    unit->start_ns = from->start_ns;
    unit->volume = volume;
    unit->process = first == NO_INDEX ? job->unit_count : first;
    if (aggregate_keep(a, &unit->node, batch->node) || aggregate_keep(a, &unit->command, from->command) ||
        (a->grouping == GROUP_VOLUME && aggregate_actor(a, batch, from, &unit->actor)))
        return NULL;
    job->process_count += first == NO_INDEX;
    lookup_insert(&job->unit_index, hash, job->unit_count++);
    return unit;
}

int aggregate_unit(struct aggregate *a, struct job_total *job, const struct batch *batch,
                     uint32_t process, const char *volume, struct unit **out)
{
    const struct process *from = &batch->processes[process];
    const int64_t key[2] = {from->pid, from->start_ns};
    uint32_t hash = lookup_hash(key, sizeof(key)), cursor = hash, at, first = NO_INDEX;

    while (lookup_next(&job->unit_index, hash, &cursor, &at)) {
        struct unit *unit = &job->units[at];

        if (unit->pid != from->pid || unit->start_ns != from->start_ns ||
            strcmp(unit->node, batch->node) != 0)
            continue;
        if (unit->volume == volume) {
            *out = unit;
            return aggregate_keep(a, &unit->command, from->command);
        }
        first = unit->process;
    }
    if (job->unit_count == AGGREGATE_UNITS_MAX)
        return 0;
    *out = new_unit(a, job, batch, from, volume, first, hash);
    return *out ? 0 : -ENOMEM;
}

void aggregate_turn(struct manner *manner, const struct batch *batch, const struct record *record)
{
    if (manner->start_ns != batch->start_ns) {
        manner->start_ns = batch->start_ns;
        manner->read = 0;
        manner->wrote = false;
    }
    if (record->op == OP_READ) {
        manner->read += record->bytes;
        manner->all += record->bytes;
        manner->reworked += manner->wrote ? record->bytes : 0;
    } else if (record->op == OP_WRITE && record->bytes && !manner->wrote) {
        manner->wrote = true;
        manner->reworked += manner->read;
    }
}
