/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes that have no name alone do together. */
#include "analyzer/court.h"
#include "analyzer/mixture.h"
#include "analyzer/ways.h"

#define MANY_ALIKE     8    /* processes that are not named: what they do together is looked at */
#define TINY_FAULTS    1000
#define ONE_SIDE       0.05 /* of the bytes: what is written by who only reads */
#define TOGETHER_DOUBT 0.8  /* confidence is multiplied with, of what many processes are named together */

bool judge_is_tiny(const struct tally *tally)
{
    return tally_file_ops(tally) < MIXTURE_OPS_MIN && tally_file_bytes(tally) < MIXTURE_BYTES_MIN &&
           tally->op[OP_MMAP_FAULT].faults[FAULT_MINOR] < TINY_FAULTS;
}

int judge_leave(const struct court *court, struct rests *rests, const struct unit *unit)
{
    const struct tally tally = judge_reworked(court, unit);

    return tally_merge(&rests->tallies[court_volume(court->job, unit->volume)], &tally);
}

/* A program that is started anew for each file is many processes: what is not named alone may be together. */
static int judge_unnamed(struct court *court, const struct peers *peers, struct rests *rests)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < rests->unnamed_count; i++) {
        const struct unit *unit = &court->job->units[rests->unnamed[i]];

        court->process = unit->process;
        court_sit_for(court, unit);
        err = rests->unnamed_count >= MANY_ALIKE ? judge_leave(court, rests, unit)
                                                 : court_divide(court, &unit->tally, &peers[rests->unnamed[i]]);
    }
    return err;
}

static bool is_on(const struct court *court, const struct unit *unit, uint32_t volume)
{
    return volume == NO_INDEX || court_volume(court->job, unit->volume) == volume;
}

/* What those that opened some files do together on a volume (NO_INDEX: on all), as if one process had done it. */
static int behave_together(const struct court *court, const struct peers *peers, const struct rests *rests, uint32_t volume,
                           struct behaviour *out)
{
    struct tally sum = {0};
    struct peers of = {0};
    int err = 0;

    for (uint32_t i = 0; !err && i < rests->some_count; i++) {
        const struct unit *unit = &court->job->units[rests->some[i]];

        if (!is_on(court, unit, volume))
            continue;
        err = tally_merge(&sum, &unit->tally);
        of.files = peers[rests->some[i]].files;
        of.starts++;
    }
    behaviour_of(&sum, &of, out);
    tally_clear(&sum);
    return err;
}

/* How that is named: who writes copies, and who does not reads files. NULL for nothing. */
static const struct profile *name_together(const struct catalogue *catalogue, const struct behaviour *behaviour, bool writes,
                                           double *match)
{
    const struct profile *profile = NULL;

    if (behaviour->peers.starts >= MANY_ALIKE && (behaviour->write_share > ONE_SIDE) == writes)
        profile = ways_name(behaviour, catalogue, writes ? SIDE_BOTH : SIDE_READ, match);
    *match *= TOGETHER_DOUBT;
    return profile && profile->work == (writes ? WORK_COPIES : WORK_FILES) ? profile : NULL;
}

/* Those on a volume; each by itself where they have no name together. */
static int give_together(struct court *court, const struct peers *peers, struct rests *rests, uint32_t volume,
                         const struct profile *profile, double match)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < rests->some_count; i++) {
        const struct unit *unit = &court->job->units[rests->some[i]];

        if (!is_on(court, unit, volume))
            continue;
        court->process = profile ? NO_INDEX : unit->process;
        court_sit_for(court, unit);
        if (profile)
            err = court_give(court, profile, &unit->tally, match, true);
        else
            err = judge_is_tiny(&unit->tally) ? judge_leave(court, rests, unit)
                                              : court_divide(court, &unit->tally, &peers[rests->some[i]]);
    }
    return err;
}

/* A program that is started anew for some files at a time, as by xargs, or for each. */
static int judge_some(struct court *court, const struct peers *peers, struct rests *rests)
{
    const struct profile *profile = NULL;
    bool many = rests->some_count >= MANY_ALIKE;
    struct behaviour behaviour;
    double match = 0;
    int err = many ? behave_together(court, peers, rests, NO_INDEX, &behaviour) : 0;

    if (many && !err)
        profile = name_together(court->catalogue, &behaviour, true, &match);
    if (profile)
        return give_together(court, peers, rests, NO_INDEX, profile, match);
    for (uint32_t v = 0; !err && rests->some_count && v < court->job->volume_count; v++) {
        err = many ? behave_together(court, peers, rests, v, &behaviour) : 0;
        if (err)
            break;
        profile = many ? name_together(court->catalogue, &behaviour, false, &match) : NULL;
        err = give_together(court, peers, rests, v, profile, match);
    }
    return err;
}

int judge_together(struct court *court, const struct peers *peers, struct rests *rests)
{
    int err = judge_some(court, peers, rests);

    return err ? err : judge_unnamed(court, peers, rests);
}
