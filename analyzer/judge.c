/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/court.h"
#include "analyzer/figure.h"
#include "analyzer/mixture.h"
#include "analyzer/team.h"
#include "analyzer/ways.h"
#include "lib/cleanup.h"

#define SUM_SMALL     0.05 /* of the job: a sum that is less is not drawn anew */
#define UNKNOWN_LARGE 0.6 /* of totals without processes: then the bounds on behaviour are asked, too */
#define ALIKE         0.92 /* of operations and of bytes: totals of which a profile has so much may be one process's of it */
#define MAIN          0.6 /* of operations and bytes, where the rest may be of anybody's */
#define OTHERS_MAX    0.03 /* of operations that are named as others', where the rest is not */
#define ONE_SIDE      0.05 /* bytes of the other side, of totals that are named by one */
#define TOTAL_DOUBT   0.8  /* confidence is multiplied with, where totals are named like one process */
#define REWORKED      0.75 /* of the bytes read: read by so many who write, a job may do what only one process can */

/* Unmixes a tally that no process has to itself. */
static int divide_total(struct court *court, const struct tally *tally, struct draws *draws, struct part *parts)
{
    int err = mixture_add(court->catalogue, tally, court->concert, NULL, parts, draws);

    for (uint32_t p = 0; !err && p <= court->catalogue->count; p++)
        court_add_time(&parts[p], tally);
    return err;
}

/* Whose bytes nearly all are; SIDE_BOTH where it reads and writes. */
static enum side side_of(const struct tally *tally)
{
    double written = (double)tally->op[OP_WRITE].bytes, all = (double)tally_file_bytes(tally);

    return !(written > ONE_SIDE * all) ? SIDE_READ : written > (1 - ONE_SIDE) * all ? SIDE_WRITE : SIDE_BOTH;
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
    profile = ways_name(&behaviour, catalogue, SIDE_BOTH, match);
    if (!profile && (*side = side_of(tally)) != SIDE_BOTH)
        profile = ways_name(&behaviour, catalogue, *side, match);
    *match *= TOTAL_DOUBT;
    return profile && *match * profile->confidence >= SURE_MIN ? profile : NULL;
}

/* So much of a tally is unknown that no pattern tells what it is. Seeks are left out: one library may seek ten thousand times
   for what others read at once. */
static bool is_unknown(const struct part *unknown, const struct tally *tally)
{
    double ops = (double)(tally_file_ops(tally) - tally_ops(tally, OP_SEEK));
    double seeks = unknown->ok[OP_SEEK] + unknown->failed[OP_SEEK];

    return part_ops(unknown) - seeks > UNKNOWN_LARGE * ops ||
           (part_bytes(unknown) > UNKNOWN_LARGE * (double)tally_file_bytes(tally) &&
            tally_file_bytes(tally) >= MIXTURE_BYTES_MIN);
}

/* The largest part that is what others do first; catalogue->count, the unknown one, for none. */
static uint32_t find_prelude(const struct catalogue *catalogue, const struct part *parts)
{
    uint32_t found = catalogue->count;

    for (uint32_t p = 0; p < catalogue->count; p++)
        if (catalogue->profiles[p].prelude && part_ops(&parts[p]) > 0 &&
            (found == catalogue->count || part_ops(&parts[p]) > part_ops(&parts[found])))
            found = p;
    return found;
}

/* Operations that other profiles than these two have, which are no chance if they are more than a few. */
static double named_otherwise(const struct catalogue *catalogue, const struct part *parts, uint32_t main, uint32_t first)
{
    double ops = 0;

    for (uint32_t p = 0; p < catalogue->count; p++)
        ops += p != main && p != first ? part_ops(&parts[p]) : 0;
    return ops;
}

/* The profile that so much of a tally is that, if it behaves like one process of it, it is one, and what else was found is
   what its recipes do not say, or its prelude; NULL for none. */
static const struct profile *main_profile(const struct catalogue *catalogue, const struct part *parts, uint32_t first,
                                          const struct tally *tally)
{
    const struct part *unknown = &parts[catalogue->count];
    double all = (double)tally_file_ops(tally), all_bytes = (double)tally_file_bytes(tally);

    for (uint32_t p = 0; p < catalogue->count; p++) {
        double ops = part_ops(&parts[p]), others = p != first && first < catalogue->count ? part_ops(&parts[first]) : 0;
        double bytes = part_bytes(&parts[p]);

        if (ops >= MAIN * all && ops + part_ops(unknown) + others >= ALIKE * all && bytes >= MAIN * all_bytes &&
            bytes + part_bytes(unknown) >= ALIKE * all_bytes &&
            named_otherwise(catalogue, parts, p, first) <= OTHERS_MAX * all)
            return &catalogue->profiles[p];
    }
    return NULL;
}

/* Puts all of a tally into a profile's part of these. */
static int give_total(const struct court *court, const struct profile *profile, const struct tally *tally, double match,
                      struct part *parts)
{
    struct court here = *court;

    here.parts = parts;
    return court_give(&here, profile, tally, match, false);
}

/* Names a total like one process where that says more than its parts, or nearly the same; or what reads and writes, as a sum
   of sizes does not say whether into few files or into as many as it reads. */
static int rename_total(struct court *court, const struct tally *tally, bool small, struct part *parts)
{
    uint32_t first = find_prelude(court->catalogue, parts), count = court->catalogue->count;
    const struct profile *alike = main_profile(court->catalogue, parts, first, tally), *profile;
    bool strange = is_unknown(&parts[count], tally), whole;
    struct part *part;
    struct tally own, other;
    enum side side;
    double match, prelude;
    uint32_t prelude_of;
    int err;

    profile = strange || alike ? name_total(court->catalogue, tally, &side, &match) : NULL;
    if (!profile)
        return 0;
    own = side == SIDE_BOTH ? *tally : court_side(tally, side == SIDE_WRITE);
    other = court_side(tally, side == SIDE_READ);
    whole = side == SIDE_BOTH || court_is_small(&other, tally);
    if (!strange && !(whole && (profile == alike || side_of(tally) == SIDE_BOTH)))
        return 0;
    part = &parts[profile - court->catalogue->profiles];
    if ((strange || profile != alike || part_ops(part) < ALIKE * (double)tally_file_ops(tally)) && court->draws && !small)
        court->draws->undrawn = true;
    prelude = part->prelude;
    prelude_of = part->first;
    if (first < count && part != &parts[first]) {
        prelude = part_ops(&parts[first]);
        prelude_of = first;
    }
    memset(parts, 0, (count + 1) * sizeof(*parts));
    err = give_total(court, profile, whole ? tally : &own, match, parts);
    if (whole) {
        part->prelude = prelude;
        part->first = prelude_of;
    }
    return err || whole ? err : divide_total(court, &other, NULL, parts);
}

/* What no process has to itself: a blend, as far as we know. */
static int judge_total(struct court *court, const struct tally *tally)
{
    uint32_t count = court->catalogue->count + 1;
    _cleanup_free_ struct part *parts = calloc(count, sizeof(*parts));
    bool small = court_is_part(tally, &court->job->tally, SUM_SMALL);
    int err = parts ? divide_total(court, tally, small ? NULL : court->draws, parts) : -ENOMEM;

    if (!err)
        err = rename_total(court, tally, small, parts);
    if (!err && court->draws && small)
        draws_add_parts(court->draws, parts);
    for (uint32_t p = 0; !err && p < count; p++)
        part_add(&court->parts[p], &parts[p]);
    return err;
}

/* Whether sums do not tell it: one of its bounds is that it is a process. */
static bool needs_process(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->requirement_count; i++)
        if (strcmp(profile->requirements[i].feature, "whole.is_process") == 0 && profile->requirements[i].min > 0)
            return true;
    return false;
}

/* What all of a job is: all its processes together; or, where none is known, but that those who read wrote, too, what one
   process does as a whole and sums do not tell. NULL for neither. */
static const struct profile *name_job(const struct catalogue *catalogue, const struct job_total *job, double *match)
{
    const struct profile *profile;
    struct behaviour behaviour;

    behaviour_of(&job->tally, &(struct peers){.apart = series_reads_apart(&job->series)}, &behaviour);
    if (job->process_count)
        return ways_name(&behaviour, catalogue, SIDE_JOB, match);
    if (!(figure_reworked(&job->tally) >= REWORKED))
        return NULL;
    profile = ways_name(&behaviour, catalogue, SIDE_BOTH, match);
    *match *= TOTAL_DOUBT;
    return profile && needs_process(profile) ? profile : NULL;
}

/* As a job whose processes are not known does something as a whole. */
static int give_job(struct court *court, const struct profile *profile, double match)
{
    int err = 0;

    for (uint32_t v = 0; !err && v < court->job->volume_count; v++) {
        court_sit(court, v);
        err = court_give(court, profile, &court->job->volumes[v].tally, match, false);
    }
    if (court->draws)
        court->draws->undrawn = true;
    return err;
}

/* What no process has to itself, beside what is left of processes. */
static int judge_rests(struct court *court, struct tally *rests, bool given)
{
    const struct job_total *job = court->job;
    int err = 0;

    court->process = NO_INDEX;
    court->unit = NULL;
    for (uint32_t v = 0; !err && court->draws && v < job->volume_count; v++)
        draws_add_parts(court->draws, court->all + (size_t)v * (court->catalogue->count + 1));
    for (uint32_t v = 0; !err && v < job->volume_count; v++) {
        court_sit(court, v);
        err = given ? 0 : tally_merge(&rests[v], &job->volumes[v].rest);
        if (!err && tally_file_ops(&rests[v]))
            err = judge_total(court, &rests[v]);
    }
    return err;
}

/* Processes, one by one, and those of a job that does one thing. Whether what belongs to none is judged, too: 1, 0, -ENOMEM
   or -ERANGE. */
static int judge_all(struct court *court, struct tally *rests)
{
    _cleanup_free_ bool *team = NULL;
    const struct profile *profile;
    double match;
    int err = 0;

    profile = name_job(court->catalogue, court->job, &match);
    if (profile)
        err = team_of(court->catalogue, profile, court->job, &team);
    if (err == 1)
        err = team_give(court, profile, match, team);
    if (!err)
        err = judge_units(court, court->job, team, rests);
    return err ? err : team != NULL;
}

int judge_team(const struct catalogue *catalogue, const struct job_total *job)
{
    _cleanup_free_ bool *team = NULL;
    const struct profile *profile;
    double match;

    profile = job->process_count ? name_job(catalogue, job, &match) : NULL;
    return profile ? team_of(catalogue, profile, job, &team) : 0;
}

static bool *new_counted(const struct catalogue *catalogue, const struct job_total *job, uint32_t volumes)
{
    return calloc((size_t)(catalogue->count + 1) * (job->unit_count + 1u) * volumes, sizeof(bool));
}

int judge_processes(const struct catalogue *catalogue, const struct job_total *job, struct tally *rests,
                    struct part *parts, struct spells *spells)
{
    _cleanup_free_ bool *counted = new_counted(catalogue, job, job->volume_count);
    struct court court = {.catalogue = catalogue, .job = job, .all = parts, .spells = spells, .process = NO_INDEX,
                          .counted = counted, .by_volume = true};
    int err = counted ? judge_all(&court, rests) : -ENOMEM;

    return err < 0 ? err : 0;
}

int judge_others(const struct catalogue *catalogue, const struct job_total *job, struct tally *rests,
                 struct part *parts, struct draws *draws)
{
    struct court court = {.catalogue = catalogue, .job = job, .all = parts, .draws = draws};

    return judge_rests(&court, rests, false);
}

int judge_job(const struct catalogue *catalogue, const struct job_total *job, struct part *parts, struct draws *draws,
              struct spells *spells)
{
    _cleanup_free_ struct tally *rests = calloc(job->volume_count + 1u, sizeof(*rests));
    _cleanup_free_ bool *counted = new_counted(catalogue, job, 1);
    struct court court = {.catalogue = catalogue, .job = job, .all = parts, .draws = draws, .spells = spells,
                          .process = NO_INDEX, .counted = counted};
    const struct profile *profile;
    double match;
    int err = 0;

    if (!rests || !counted)
        return -ENOMEM;
    profile = job->process_count ? NULL : name_job(catalogue, job, &match);
    if (profile)
        return give_job(&court, profile, match);
    if (job->process_count)
        err = judge_all(&court, rests);
    if (err >= 0)
        err = judge_rests(&court, rests, err > 0);
    for (uint32_t v = 0; v < job->volume_count; v++)
        tally_clear(&rests[v]);
    return err;
}
