/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes that have no name alone do together. */
#include "analyzer/court.h"
#include "analyzer/ways.h"

#define MANY_ALIKE     8    /* processes that are not named: what they do together is looked at */
#define ONE_SIDE       0.05 /* of the bytes: what is written by who only reads */
#define TOGETHER_DOUBT 0.8  /* confidence is multiplied with, of what many processes are named together */

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

/* What those that opened some files on a volume do together is named as if one process had done it; NULL for nothing. */
static int name_together(const struct court *court, const struct rests *rests, uint32_t volume,
                         const struct profile **profile, double *match)
{
    struct tally sum = {0};
    struct peers peers = {0};
    struct behaviour behaviour;
    int err = 0;

    *profile = NULL;
    for (uint32_t i = 0; !err && i < rests->some_count; i++) {
        const struct unit *unit = &court->job->units[rests->some[i]];

        if (court_volume(court->job, unit->volume) != volume)
            continue;
        err = tally_merge(&sum, &unit->tally);
        peers.starts++;
    }
    if (!err && peers.starts >= MANY_ALIKE && !((double)sum.op[OP_WRITE].bytes > ONE_SIDE * (double)tally_file_bytes(&sum))) {
        behaviour_of(&sum, &peers, &behaviour);
        *profile = ways_name(&behaviour, court->catalogue, SIDE_READ, match);
        *match *= TOGETHER_DOUBT;
        if (*profile && (*profile)->work != WORK_FILES)
            *profile = NULL;
    }
    tally_clear(&sum);
    return err;
}

/* A program that is started anew for some files at a time, as by xargs. */
static int judge_some(struct court *court, const struct peers *peers, const struct rests *rests)
{
    int err = 0;

    for (uint32_t v = 0; !err && rests->some_count && v < court->job->volume_count; v++) {
        const struct profile *profile;
        double match;

        err = name_together(court, rests, v, &profile, &match);
        for (uint32_t i = 0; !err && i < rests->some_count; i++) {
            const struct unit *unit = &court->job->units[rests->some[i]];

            if (court_volume(court->job, unit->volume) != v)
                continue;
            court->process = profile ? NO_INDEX : unit->process;
            court_sit_for(court, unit);
            err = profile ? court_give(court, profile, &unit->tally, match, true)
                          : court_divide(court, &unit->tally, &peers[rests->some[i]]);
        }
    }
    return err;
}

int judge_together(struct court *court, const struct peers *peers, struct rests *rests)
{
    int err = judge_some(court, peers, rests);

    return err ? err : judge_unnamed(court, peers, rests);
}
