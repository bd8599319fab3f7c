/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/behaviour.h"
#include "analyzer/confidence.h"
#include "analyzer/mixture.h"
#include "analyzer/peers.h"
#include "lib/cleanup.h"

#define SIDE_SMALL    0.03 /* a side that is less of a process than this goes with the other */
#define SUM_SMALL    0.05 /* of the job: a sum that is less is not drawn anew */
#define UNKNOWN_LARGE 0.6 /* of totals without processes: then the bounds on behaviour are asked, too */
#define ONE_SIDE      0.05 /* bytes of the other side, of totals that are named by one */
#define TINY_FAULTS   1000
#define TOTAL_DOUBT   0.8  /* confidence is multiplied with, where totals are named like one process */

struct court {
    const struct catalogue *catalogue;
    const struct job_total *job;
    struct part *all;   /* by volume and profile */
    struct part *parts; /* of the volume that is judged */
    struct draws *draws; /* NULL: nobody asks */
};

static uint32_t volume_at(const struct job_total *job, const char *name)
{
    uint32_t v = 0;

    while (strcmp(job->volumes[v].name, name) != 0)
        v++;
    return v;
}

/* What is said from now on is said of that volume. */
static void sit(struct court *court, uint32_t volume)
{
    court->parts = court->all + (size_t)volume * (court->catalogue->count + 1);
}

static bool is_written(enum operation op)
{
    return op == OP_WRITE || op == OP_CREATE || op == OP_MKDIR || op == OP_RENAME || op == OP_TRUNCATE ||
           op == OP_SETATTR || op == OP_FSYNC;
}

/* A side's operations; for reading only, the histograms stay the original's. */
static struct tally side_of(const struct tally *tally, bool written)
{
    struct tally side = *tally;

    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        if (is_written(op) != written)
            side.op[op] = (struct record){.op = op};
    return side;
}

static bool is_part(const struct tally *part, const struct tally *whole, double share)
{
    return (double)tally_file_ops(part) <= share * (double)tally_file_ops(whole) &&
           (double)tally_file_bytes(part) <= share * (double)tally_file_bytes(whole);
}

static bool is_small(const struct tally *side, const struct tally *whole)
{
    return is_part(side, whole, SIDE_SMALL);
}

/* A part takes as much of an operation's time as it has of its calls. */
static void add_time(struct part *part, const struct tally *tally)
{
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        double ops = (double)tally_ops(tally, op);

        if (ops > 0)
            part->time[busy_of(op)] +=
                (double)tally->op[op].latency_sum_ns * (part->ok[op] + part->failed[op]) / ops;
    }
}

/* All of a tally is a profile's. */
static int give(struct court *court, const struct profile *profile, const struct tally *tally, double match,
                bool process)
{
    _cleanup_free_ struct bin *bins = NULL;
    struct part part = {0}, *to = &court->parts[profile - court->catalogue->profiles];
    size_t count;
    int err = bins_of(tally, &bins, &count);

    if (err)
        return err;
    for (size_t i = 0; i < count; i++)
        part_add_bin(&part, &bins[i], bins[i].ops);
    part.fit = part_ops(&part) * match;
    part.confidence = process ? part_ops(&part) * confidence_of_match(match) : 0;
    part.summed = process ? 0 : part_ops(&part);
    part.processes = process;
    add_time(&part, tally);
    part_add(to, &part);
    return 0;
}

/* Unmixes a tally. */
static int divide(struct court *court, const struct tally *tally, bool process)
{
    uint32_t count = court->catalogue->count + 1;
    _cleanup_free_ struct part *parts = calloc(count, sizeof(*parts));
    int err = parts ? mixture_add(court->catalogue, tally, process, 0, parts, NULL) : -ENOMEM;

    for (uint32_t p = 0; !err && p < count; p++) {
        add_time(&parts[p], tally);
        part_add(&court->parts[p], &parts[p]);
    }
    return err;
}

/* One process on one volume. */
static int judge_unit(struct court *court, const struct tally *tally, const struct peers *peers)
{
    struct tally sides[2] = {side_of(tally, false), side_of(tally, true)};
    const struct profile *profiles[2];
    struct behaviour behaviour;
    double match[2];
    int err = 0;

    behaviour_of(tally, peers, &behaviour);
    for (unsigned i = 0; i < 2; i++)
        profiles[i] = behaviour_name(&behaviour, court->catalogue, i ? SIDE_WRITE : SIDE_READ, &match[i]);
    if (!profiles[0] && !profiles[1])
        return divide(court, tally, true);
    for (unsigned i = 0; i < 2; i++)
        if (profiles[i] && (profiles[0] == profiles[1] || is_small(&sides[!i], tally)))
            return give(court, profiles[i], tally, match[i], true);
    for (unsigned i = 0; !err && i < 2; i++)
        err = profiles[i] ? give(court, profiles[i], &sides[i], match[i], true)
                          : divide(court, &sides[i], true);
    return err;
}

/* Unmixes a tally that no process has to itself. */
static int divide_total(struct court *court, const struct tally *tally, struct draws *draws, struct part *parts)
{
    int err = mixture_add(court->catalogue, tally, false, 0, parts, draws);

    for (uint32_t p = 0; !err && p <= court->catalogue->count; p++)
        add_time(&parts[p], tally);
    return err;
}

/* The profile that a total is named after as if it were one process; of SIDE_READ and SIDE_WRITE, where nearly no bytes
   are of the other side. NULL for none that is sure enough. */
static const struct profile *name_total(const struct catalogue *catalogue, const struct tally *tally, enum side *side,
                                        double *match)
{
    const struct profile *profile;
    struct behaviour behaviour;

    behaviour_of(tally, &(struct peers){0}, &behaviour);
    *side = SIDE_BOTH;
    profile = behaviour_name(&behaviour, catalogue, SIDE_BOTH, match);
    if (!profile && !(behaviour.write_share > ONE_SIDE))
        profile = behaviour_name(&behaviour, catalogue, *side = SIDE_READ, match);
    if (!profile && behaviour.write_share > 1 - ONE_SIDE)
        profile = behaviour_name(&behaviour, catalogue, *side = SIDE_WRITE, match);
    *match *= TOTAL_DOUBT;
    return profile && *match * profile->confidence >= SURE_MIN ? profile : NULL;
}

/* What no process has to itself: a blend, as far as we know, and named like one process only if that says little. */
static int judge_total(struct court *court, const struct tally *tally)
{
    uint32_t count = court->catalogue->count + 1;
    _cleanup_free_ struct part *parts = calloc(count, sizeof(*parts));
    const struct part *unknown = parts ? &parts[count - 1] : NULL;
    double match, ops = (double)tally_file_ops(tally), bytes = (double)tally_file_bytes(tally);
    bool small = is_part(tally, &court->job->tally, SUM_SMALL);
    int err = parts ? divide_total(court, tally, small ? NULL : court->draws, parts) : -ENOMEM;

    if (!err && (part_ops(unknown) > UNKNOWN_LARGE * ops || part_bytes(unknown) > UNKNOWN_LARGE * bytes)) {
        enum side side;
        const struct profile *profile = name_total(court->catalogue, tally, &side, &match);
        struct tally own = side == SIDE_BOTH ? *tally : side_of(tally, side == SIDE_WRITE);
        struct tally other = side_of(tally, side == SIDE_READ);

        if (profile && court->draws && !small)
            court->draws->undrawn = true;
        if (profile && (side == SIDE_BOTH || is_small(&other, tally)))
            return give(court, profile, tally, match, false);
        if (profile) {
            memset(parts, 0, count * sizeof(*parts));
            err = give(court, profile, &own, match, false);
            if (!err)
                err = divide_total(court, &other, NULL, parts);
        }
    }
    if (!err && court->draws && small)
        draws_add_parts(court->draws, parts);
    for (uint32_t p = 0; !err && p < count; p++)
        part_add(&court->parts[p], &parts[p]);
    return err;
}

/* Units of one process lie beside each other. */
static int by_process(const void *a, const void *b, void *job)
{
    const struct unit *units = ((const struct job_total *)job)->units;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (units[x].process != units[y].process)
        return units[x].process < units[y].process ? -1 : 1;
    return (x > y) - (x < y);
}

static bool is_tiny(const struct tally *tally)
{
    return tally_file_ops(tally) < MIXTURE_OPS_MIN && tally_file_bytes(tally) < MIXTURE_BYTES_MIN &&
           tally->op[OP_MMAP_FAULT].faults[FAULT_MINOR] < TINY_FAULTS;
}

/* One process, on all its volumes; 1 when it does too little to be judged by itself. */
static int judge_process(struct court *court, const struct unit *units, const struct peers *peers,
                         const uint32_t *order, uint32_t count)
{
    const struct tally *only = &units[order[0]].tally;
    const struct profile *profile;
    struct behaviour behaviour;
    struct tally whole = {0};
    double match;
    int err = 0;

    for (uint32_t i = 0; !err && count > 1 && i < count; i++)
        err = tally_merge(&whole, &units[order[i]].tally);
    if (!err && is_tiny(count > 1 ? &whole : only))
        err = 1;
    if (!err) {
        behaviour_of(count > 1 ? &whole : only, &peers[order[0]], &behaviour);
        profile = behaviour_name(&behaviour, court->catalogue, SIDE_BOTH, &match);
        for (uint32_t i = 0; !err && i < count; i++) {
            const struct unit *unit = &units[order[i]];

            sit(court, volume_at(court->job, unit->volume));
            err = profile ? give(court, profile, &unit->tally, match, true)
                          : judge_unit(court, &unit->tally, &peers[order[i]]);
        }
    }
    tally_clear(&whole);
    return err;
}

/* Many short-lived processes that do little each are looked at together, volume by volume. */
static int judge_units(struct court *court, const struct job_total *job, struct tally *rests)
{
    _cleanup_free_ uint32_t *order = calloc(job->unit_count + 1u, sizeof(*order));
    _cleanup_free_ struct peers *peers = NULL;
    int err = order ? peers_of(job, &peers) : -ENOMEM;

    if (err)
        return err;
    for (uint32_t i = 0; i < job->unit_count; i++)
        order[i] = i;
    qsort_r(order, job->unit_count, sizeof(*order), by_process, (void *)job);
    for (uint32_t from = 0, to; !err && from < job->unit_count; from = to) {
        for (to = from + 1; to < job->unit_count && job->units[order[to]].process == job->units[order[from]].process;)
            to++;
        err = judge_process(court, job->units, peers, order + from, to - from);
        for (uint32_t i = from; err == 1 && i < to; i++) {
            const struct unit *unit = &job->units[order[i]];

            err = tally_merge(&rests[volume_at(job, unit->volume)], &unit->tally) ? -ENOMEM : i + 1 == to ? 0 : 1;
        }
    }
    return err;
}

int judge_job(const struct catalogue *catalogue, const struct job_total *job, struct part *parts, struct draws *draws)
{
    struct court court = {.catalogue = catalogue, .job = job, .all = parts, .draws = draws};
    _cleanup_free_ struct tally *rests = calloc(job->volume_count + 1u, sizeof(*rests));
    const struct profile *profile;
    struct behaviour behaviour;
    double match;
    int err = 0;

    if (!rests)
        return -ENOMEM;
    behaviour_of(&job->tally, &(struct peers){0}, &behaviour);
    profile = behaviour_name(&behaviour, catalogue, SIDE_JOB, &match);
    if (profile && job->process_count) {
        for (uint32_t v = 0; !err && v < job->volume_count; v++) {
            sit(&court, v);
            err = give(&court, profile, &job->volumes[v].tally, match, true);
        }
        return err;
    }
    err = judge_units(&court, job, rests);
    for (uint32_t v = 0; !err && draws && v < job->volume_count; v++)
        draws_add_parts(draws, parts + (size_t)v * (catalogue->count + 1));
    for (uint32_t v = 0; !err && v < job->volume_count; v++) {
        sit(&court, v);
        err = tally_merge(&rests[v], &job->volumes[v].rest);
        if (!err && tally_file_ops(&rests[v]))
            err = judge_total(&court, &rests[v]);
    }
    for (uint32_t v = 0; v < job->volume_count; v++)
        tally_clear(&rests[v]);
    return err;
}
