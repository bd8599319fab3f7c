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
#include "analyzer/pipes.h"
#include "lib/cleanup.h"

#define SIDE_SMALL    0.03 /* a side that is less of a process than this goes with the other */
#define SUM_SMALL    0.05 /* of the job: a sum that is less is not drawn anew */
#define UNKNOWN_LARGE 0.6 /* of totals without processes: then the bounds on behaviour are asked, too */
#define ONE_SIDE      0.05 /* bytes of the other side, of totals that are named by one */
#define TINY_FAULTS   1000
#define FEW_OPENS     2
#define MANY_ALIKE    8 /* processes of few opens that are not named: what they do together is looked at */
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

/* One process on one volume; 1 when it is not named, and has opened no more files than one of many alike may. */
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
        return behaviour.opens <= FEW_OPENS ? 1 : divide(court, tally, true);
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

/* A unit, where it belongs in order: units of one process lie beside each other, and the two ends of a pipe. */
struct place {
    uint32_t pipe, process, unit;
};

static int compare(uint32_t x, uint32_t y)
{
    return (x > y) - (x < y);
}

static int by_process(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->pipe != y->pipe         ? compare(x->pipe, y->pipe)
           : x->process != y->process ? compare(x->process, y->process)
                                      : compare(x->unit, y->unit);
}

static bool is_tiny(const struct tally *tally)
{
    return tally_file_ops(tally) < MIXTURE_OPS_MIN && tally_file_bytes(tally) < MIXTURE_BYTES_MIN &&
           tally->op[OP_MMAP_FAULT].faults[FAULT_MINOR] < TINY_FAULTS;
}

/* What so many units did together: *out is theirs, or, where it is merged, *sum. */
static int sum_of(const struct court *court, const struct place *places, uint32_t count, struct tally *sum,
                  const struct tally **out)
{
    int err = 0;

    *out = count > 1 ? sum : &court->job->units[places->unit].tally;
    for (uint32_t i = 0; !err && count > 1 && i < count; i++)
        err = tally_merge(sum, &court->job->units[places[i].unit].tally);
    return err;
}

/* All of these units is a profile's. */
static int give_units(struct court *court, const struct place *places, uint32_t count, const struct profile *profile,
                      double match)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < count; i++) {
        const struct unit *unit = &court->job->units[places[i].unit];

        sit(court, volume_at(court->job, unit->volume));
        err = give(court, profile, &unit->tally, match, true);
    }
    return err;
}

/* The two ends of a pipe, as one; 1 when what they do together has no name. */
static int judge_pipe(struct court *court, const struct place *places, uint32_t count)
{
    const struct profile *profile = NULL;
    struct behaviour behaviour;
    struct tally sum = {0};
    const struct tally *whole;
    double match;
    int err = sum_of(court, places, count, &sum, &whole);

    if (!err) {
        behaviour_of(whole, &(struct peers){0}, &behaviour);
        behaviour.piped = 1;
        profile = behaviour_name(&behaviour, court->catalogue, SIDE_BOTH, &match);
        err = profile ? give_units(court, places, count, profile, match) : 1;
    }
    tally_clear(&sum);
    return err;
}

/* What is looked at when all processes have been judged by themselves. */
struct rests {
    struct tally *tallies; /* by volume: what belongs to processes that do too little */
    uint32_t *unnamed;     /* units that are not named, of few opens */
    uint32_t unnamed_count;
};

static int leave_to_rest(const struct court *court, struct rests *rests, const struct unit *unit)
{
    return tally_merge(&rests->tallies[volume_at(court->job, unit->volume)], &unit->tally);
}

/* One process, on all its volumes. */
static int judge_process(struct court *court, const struct peers *peers, const struct place *places, uint32_t count,
                         struct rests *rests)
{
    const struct profile *profile = NULL;
    struct behaviour behaviour;
    struct tally sum = {0};
    const struct tally *whole;
    bool tiny = false;
    double match;
    int err = sum_of(court, places, count, &sum, &whole);

    if (!err) {
        tiny = is_tiny(whole);
        behaviour_of(whole, &peers[places->unit], &behaviour);
        profile = tiny ? NULL : behaviour_name(&behaviour, court->catalogue, SIDE_BOTH, &match);
    }
    tally_clear(&sum);
    if (!err && profile)
        return give_units(court, places, count, profile, match);
    for (uint32_t i = 0; !err && i < count; i++) {
        const struct unit *unit = &court->job->units[places[i].unit];

        sit(court, volume_at(court->job, unit->volume));
        err = tiny ? leave_to_rest(court, rests, unit) : judge_unit(court, &unit->tally, &peers[places[i].unit]);
        if (err == 1) {
            rests->unnamed[rests->unnamed_count++] = places[i].unit;
            err = 0;
        }
    }
    return err;
}

/* A program that is started anew for each file is many processes: what is not named alone may be together. */
static int judge_unnamed(struct court *court, struct rests *rests)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < rests->unnamed_count; i++) {
        const struct unit *unit = &court->job->units[rests->unnamed[i]];

        sit(court, volume_at(court->job, unit->volume));
        err = rests->unnamed_count >= MANY_ALIKE ? leave_to_rest(court, rests, unit) : divide(court, &unit->tally, true);
    }
    return err;
}

static int sort_units(const struct job_total *job, struct place **out)
{
    struct place *places = calloc(job->unit_count + 1u, sizeof(*places));
    _cleanup_free_ uint32_t *pipes = NULL;

    if (!places || pipes_of(job, &pipes)) {
        free(places);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < job->unit_count; i++)
        places[i] = (struct place){pipes[i], job->units[i].process, i};
    qsort(places, job->unit_count, sizeof(*places), by_process);
    *out = places;
    return 0;
}

/* The processes of a pipe, or a single one. */
static int judge_group(struct court *court, const struct peers *peers, const struct place *places, uint32_t count,
                       struct rests *rests)
{
    int err = places[0].process != places[count - 1].process ? judge_pipe(court, places, count) : 1;

    if (err != 1)
        return err;
    err = 0;
    for (uint32_t from = 0, to; !err && from < count; from = to) {
        for (to = from + 1; to < count && places[to].process == places[from].process;)
            to++;
        err = judge_process(court, peers, places + from, to - from, rests);
    }
    return err;
}

/* Many short-lived processes that do little each are looked at together, volume by volume. */
static int judge_units(struct court *court, const struct job_total *job, struct tally *tallies)
{
    _cleanup_free_ uint32_t *unnamed = calloc(job->unit_count + 1u, sizeof(*unnamed));
    struct rests rests = {.tallies = tallies, .unnamed = unnamed};
    _cleanup_free_ struct place *places = NULL;
    _cleanup_free_ struct peers *peers = NULL;
    int err = unnamed ? peers_of(job, &peers) : -ENOMEM;

    if (!err)
        err = sort_units(job, &places);
    for (uint32_t from = 0, to; !err && from < job->unit_count; from = to) {
        for (to = from + 1; to < job->unit_count && places[to].pipe == places[from].pipe;)
            to++;
        err = judge_group(court, peers, places + from, to - from, &rests);
    }
    return err ? err : judge_unnamed(court, &rests);
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
