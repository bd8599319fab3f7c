/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/court.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/confidence.h"
#include "analyzer/mixture.h"
#include "lib/cleanup.h"

#define SIDE_SMALL 0.03 /* a side that is less of a process than this goes with the other */

uint32_t court_volume(const struct job_total *job, const char *name)
{
    return (uint32_t)(volume_named(job->volumes, job->volume_count, name) - job->volumes);
}

void court_sit(struct court *court, uint32_t volume)
{
    court->volume = volume;
    court->parts = court->all + (size_t)volume * (court->catalogue->count + 1);
    court->concert = &court->job->volumes[volume].concert;
}

void court_sit_for(struct court *court, const struct unit *unit)
{
    court->unit = unit;
    court_sit(court, court_volume(court->job, unit->volume));
}

/* Attributes are changed of what was made, or, by who makes nothing, of what was looked at. */
static bool is_written(enum operation op, bool makes)
{
    return op == OP_WRITE || op == OP_CREATE || op == OP_MKDIR || op == OP_RENAME || op == OP_TRUNCATE ||
           op == OP_FSYNC || (op == OP_SETATTR && makes);
}

struct tally court_side(const struct tally *tally, bool written)
{
    bool makes = tally_ops(tally, OP_WRITE) || tally_ops(tally, OP_CREATE) || tally_ops(tally, OP_MKDIR);
    struct tally side = *tally;

    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        if (is_written(op, makes) != written)
            side.op[op] = (struct record){.op = op};
    return side;
}

bool court_is_part(const struct tally *part, const struct tally *whole, double share)
{
    return (double)tally_file_ops(part) <= share * (double)tally_file_ops(whole) &&
           (double)tally_file_bytes(part) <= share * (double)tally_file_bytes(whole);
}

bool court_is_small(const struct tally *side, const struct tally *whole)
{
    return court_is_part(side, whole, SIDE_SMALL);
}

void court_add_time(struct part *part, const struct tally *tally)
{
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        double ops = (double)tally_ops(tally, op);

        if (ops > 0)
            part->time[busy_of(op)] +=
                (double)tally->op[op].latency_sum_ns * (part->ok[op] + part->failed[op]) / ops;
    }
}

int court_note_spell(struct court *court, uint32_t profile, const struct unit *unit, const double times[BUSY_KINDS])
{
    double time = 0;

    for (unsigned k = 0; k < BUSY_KINDS; k++)
        time += times[k];
    return court->spells && unit && time > 0 ? spells_add(court->spells, court->volume, profile, unit, times) : 0;
}

/* 1 for a process that is judged by itself, once for all its sides, and its volumes unless these are kept apart. */
static uint32_t count_process(struct court *court, uint32_t profile)
{
    size_t first = court->by_volume ? (size_t)court->volume * (court->catalogue->count + 1) : 0;
    bool *counted;

    if (court->process == NO_INDEX)
        return 0;
    counted = &court->counted[(first + profile) * (court->job->unit_count + 1u) + court->process];
    if (*counted)
        return 0;
    *counted = true;
    return 1;
}

int court_give(struct court *court, const struct profile *profile, const struct tally *tally, double match,
                bool process)
{
    _cleanup_free_ struct bin *bins = NULL;
    uint32_t index = (uint32_t)(profile - court->catalogue->profiles);
    struct part part = {0};
    size_t count;
    int err = bins_of(tally, &bins, &count);

    if (err)
        return err;
    for (size_t i = 0; i < count; i++)
        part_add_bin(&part, &bins[i], bins[i].ops);
    part.received = (double)tally->op[OP_WRITE].cache[CACHE_RECEIVED_BYTES];
    part.taken = (double)tally->op[OP_WRITE].cache[CACHE_PROCESS_RECEIVED_BYTES];
    part.reworked = (double)tally->op[OP_WRITE].cache[CACHE_REWORKED_BYTES];
    part.fit = part_ops(&part) * match;
    part.confidence = process ? part_ops(&part) * confidence_of_match(match) : 0;
    part.summed = process ? 0 : part_ops(&part);
    part.together = process && court->process == NO_INDEX ? part_ops(&part) : 0;
    part.processes = process ? count_process(court, index) : 0;
    court_add_time(&part, tally);
    part_add(&court->parts[index], &part);
    return court_note_spell(court, index, court->unit, part.time);
}

int court_divide(struct court *court, const struct tally *tally, const struct peers *peers)
{
    uint32_t count = court->catalogue->count + 1;
    _cleanup_free_ struct part *parts = calloc(count, sizeof(*parts));
    int err = parts ? mixture_add(court->catalogue, tally, NULL, peers, parts, NULL) : -ENOMEM;

    for (uint32_t p = 0; !err && p < count; p++) {
        bool enough = part_ops(&parts[p]) >= MIXTURE_OPS_MIN || part_bytes(&parts[p]) >= MIXTURE_BYTES_MIN;

        court_add_time(&parts[p], tally);
        parts[p].processes = enough ? count_process(court, p) : 0;
        part_add(&court->parts[p], &parts[p]);
        err = court_note_spell(court, p, court->unit, parts[p].time);
    }
    return err;
}
