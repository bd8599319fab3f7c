/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/team.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/court.h"
#include "analyzer/ways.h"
#include "lib/cleanup.h"
#include "lib/order.h"

#define ONE_SIDED 0.05 /* bytes of the other direction, of all that a process moves: it only reads, or only writes */
#define BALANCED  0.4  /* of the direction with fewer: it writes about as much as it reads */
#define OTHERS    0.1  /* bytes of processes that are neither, of the job's */
#define WALK_OPS  500
#define WALK      0.85 /* of a walk's operations look up names, or change attributes, */
#define WALK_MOVE 256  /* and each moves no more bytes than that */
#define A_FILE    4    /* operations of walks, to each file that the job makes: who copies looks at what there is */

static bool takes_part(double read, double written)
{
    double less = read < written ? read : written, all = read + written;

    return less <= ONE_SIDED * all || less >= BALANCED * all;
}

/* What a unit that writes as much as it reads is by itself; NULL where that is nothing, or not so much. */
static const struct profile *name_alone(const struct catalogue *catalogue, const struct tally *tally)
{
    double read = (double)tally->op[OP_READ].bytes, written = (double)tally->op[OP_WRITE].bytes, match;
    struct behaviour behaviour;

    if (!(written > 0) || fmin(read, written) < BALANCED * (read + written))
        return NULL;
    behaviour_of(tally, &(struct peers){0}, &behaviour);
    return ways_name(&behaviour, catalogue, SIDE_BOTH, &match);
}

/* Bytes of who is something else by itself than what the job is; 0 where nobody is that by himself: it takes all of them. */
static double bytes_of_others(const struct catalogue *catalogue, const struct profile *profile, const struct job_total *job)
{
    double bytes = 0;
    bool some = false;

    for (uint32_t i = 0; i < job->unit_count; i++) {
        const struct tally *tally = &job->units[i].tally;
        const struct profile *alone = name_alone(catalogue, tally);

        some |= alone == profile;
        if (alone && alone != profile)
            bytes += (double)tally->op[OP_READ].bytes + (double)tally->op[OP_WRITE].bytes;
    }
    return some ? bytes : 0;
}

/* 0 where too many bytes are others', 1, or -ENOMEM. */
static int is_team(const struct catalogue *catalogue, const struct profile *profile, const struct job_total *job)
{
    _cleanup_free_ double *read = calloc(job->unit_count + 1u, sizeof(*read));
    _cleanup_free_ double *written = calloc(job->unit_count + 1u, sizeof(*written));
    double all = 0, others = bytes_of_others(catalogue, profile, job);

    if (!read || !written)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->unit_count; i++) {
        const struct unit *unit = &job->units[i];

        read[unit->process] += (double)unit->tally.op[OP_READ].bytes;
        written[unit->process] += (double)unit->tally.op[OP_WRITE].bytes;
    }
    for (uint32_t i = 0; i < job->unit_count; i++) {
        all += read[i] + written[i];
        others += takes_part(read[i], written[i]) ? 0 : read[i] + written[i];
    }
    return others <= OTHERS * all;
}

/* A unit that walks the name space. */
struct walk {
    uint32_t unit;
    uint64_t ops;
};

static int by_ops(const void *a, const void *b)
{
    const struct walk *x = a, *y = b;

    return ORDER(x->ops, y->ops) ?: ORDER(x->unit, y->unit);
}

static bool walks(const struct tally *tally)
{
    struct behaviour behaviour;

    if (tally_file_ops(tally) < WALK_OPS)
        return false;
    behaviour_of(tally, &(struct peers){0}, &behaviour);
    return behaviour.lookups >= WALK && behaviour.bytes_per_op <= WALK_MOVE;
}

int team_of(const struct catalogue *catalogue, const struct profile *profile, const struct job_total *job, bool **in)
{
    _cleanup_free_ struct walk *all = calloc(job->unit_count + 1u, sizeof(*all));
    _cleanup_free_ bool *is = NULL;
    double may_be = A_FILE * (double)tally_succeeded(&job->tally, OP_CREATE);
    int err = is_team(catalogue, profile, job);
    uint32_t count = 0;

    if (err != 1)
        return err;
    is = malloc(job->unit_count + 1u);
    if (!all || !is)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->unit_count; i++) {
        is[i] = !walks(&job->units[i].tally);
        if (!is[i])
            all[count++] = (struct walk){i, tally_file_ops(&job->units[i].tally)};
    }
    qsort(all, count, sizeof(*all), by_ops);
    for (uint32_t i = 0; i < count && (may_be -= (double)all[i].ops) >= 0; i++)
        is[all[i].unit] = true;
    *in = take_pointer(is);
    return 1;
}

/* What one volume's tally becomes without the units that are not in the team. 0, -ENOMEM or -ERANGE. */
static int sum_team(const struct job_total *job, uint32_t volume, const bool *in, struct tally *out)
{
    int err = tally_merge(out, &job->volumes[volume].rest);

    for (uint32_t i = 0; !err && i < job->unit_count; i++)
        if (in[i] && court_volume(job, job->units[i].volume) == volume)
            err = tally_merge(out, &job->units[i].tally);
    return err;
}

/* The process that is all of the team; NO_INDEX where it has several. */
static uint32_t only_process(const struct job_total *job, const bool *in)
{
    uint32_t only = NO_INDEX;

    for (uint32_t i = 0; i < job->unit_count; i++) {
        if (in[i] && only != NO_INDEX && job->units[i].process != only)
            return NO_INDEX;
        only = in[i] ? job->units[i].process : only;
    }
    return only;
}

/* When each of them did its part of it on the volume that is judged. */
static int note_spells(struct court *court, uint32_t profile, const bool *in)
{
    const struct job_total *job = court->job;
    int err = 0;

    for (uint32_t i = 0; !err && i < job->unit_count; i++) {
        const struct unit *unit = &job->units[i];
        double times[BUSY_KINDS] = {0};

        if (!in[i] || court_volume(job, unit->volume) != court->volume)
            continue;
        for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
            times[busy_of(op)] += (double)unit->tally.op[op].latency_sum_ns;
        err = court_note_spell(court, profile, unit, times);
    }
    return err;
}

int team_give(struct court *court, const struct profile *profile, double match, const bool *in)
{
    const struct job_total *job = court->job;
    int err = 0;

    court->process = only_process(job, in);
    for (uint32_t v = 0; !err && v < job->volume_count; v++) {
        struct tally sum = {0};

        court_sit(court, v);
        err = sum_team(job, v, in, &sum);
        if (!err && tally_file_ops(&sum))
            err = court_give(court, profile, &sum, match, true);
        if (!err)
            err = note_spells(court, (uint32_t)(profile - court->catalogue->profiles), in);
        tally_clear(&sum);
    }
    return err;
}
