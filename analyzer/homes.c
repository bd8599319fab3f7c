/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/homes.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/judge.h"
#include "lib/cleanup.h"
#include "lib/order.h"

/* A unit of the totals, where it belongs in order: a job's lie beside each other, and in it a process's. */
struct place {
    uint32_t home, actor, volume, unit;
};

static int by_home(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return ORDER(x->home, y->home) ?: ORDER(x->actor, y->actor) ?: ORDER(x->volume, y->volume);
}

static int sort_places(const struct aggregate *totals, struct place **out, size_t *count)
{
    size_t all = 0;

    for (uint32_t v = 0; v < totals->job_count; v++)
        all += totals->jobs[v].unit_count;
    *count = 0;
    *out = calloc(all + 1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    for (uint32_t v = 0; v < totals->job_count; v++)
        for (uint32_t u = 0; u < totals->jobs[v].unit_count; u++) {
            uint32_t actor = totals->jobs[v].units[u].actor;

            (*out)[(*count)++] = (struct place){totals->actors[actor].home, actor, v, u};
        }
    qsort(*out, *count, sizeof(**out), by_home);
    return 0;
}

/* A job of these totals' processes. Its units and volumes share what the totals' have. */
struct owned {
    struct job_total job;
    uint32_t *at, *from; /* where a volume of the totals is among its own, and which one that is */
};

static void clear_owned(struct owned *owned)
{
    tally_clear(&owned->job.tally);
    free(owned->job.units);
    free(owned->job.volumes);
}

/* The job's volume. What no process has to itself there is not this job's alone. */
static uint32_t volume_of(const struct aggregate *totals, struct owned *owned, uint32_t volume)
{
    struct volume_total *own;

    if (owned->at[volume] == NO_INDEX) {
        owned->at[volume] = owned->job.volume_count;
        owned->from[owned->job.volume_count] = volume;
        own = &owned->job.volumes[owned->job.volume_count++];
        *own = totals->jobs[volume].volumes[0];
        own->rest = (struct tally){0};
        own->concert = (struct concert){0};
    }
    return owned->at[volume];
}

/* So many places of one job, as a job. 0, -ENOMEM or -ERANGE. */
static int gather(const struct aggregate *totals, const struct place *places, uint32_t count, struct owned *owned)
{
    struct job_total *job = &owned->job;
    int err = 0;

    job->units = calloc(count, sizeof(*job->units));
    job->volumes = calloc(totals->job_count, sizeof(*job->volumes));
    if (!job->units || !job->volumes)
        return -ENOMEM;
    for (uint32_t i = 0; !err && i < count; i++) {
        struct unit *unit = &job->units[job->unit_count++];
        bool first = !i || places[i].actor != places[i - 1].actor;

        *unit = totals->jobs[places[i].volume].units[places[i].unit];
        unit->volume = job->volumes[volume_of(totals, owned, places[i].volume)].name;
        unit->process = first ? i : job->units[i - 1].process;
        job->process_count += first;
        err = tally_merge(&job->tally, &unit->tally);
    }
    return err;
}

/* Gives each volume its part. */
static int hand_out(const struct owned *owned, uint32_t profiles, const struct part *parts, const struct tally *rests,
                    const struct spells *spells, struct judged *judged)
{
    int err = 0;

    for (uint32_t v = 0; !err && v < owned->job.volume_count; v++) {
        struct judged *to = &judged[owned->from[v]];

        if (to->alone)
            continue;
        for (uint32_t p = 0; p < profiles; p++)
            part_add(&to->parts[p], &parts[(size_t)v * profiles + p]);
        err = tally_merge(&to->rest, &rests[v]);
        if (!err)
            err = spells_take(&to->spells, spells, v);
    }
    return err;
}

static int judge_owned(const struct catalogue *catalogue, const struct owned *owned, struct judged *judged)
{
    uint32_t profiles = catalogue->count + 1, volumes = owned->job.volume_count;
    _cleanup_free_ struct part *parts = calloc((size_t)volumes * profiles, sizeof(*parts));
    _cleanup_free_ struct tally *rests = calloc(volumes, sizeof(*rests));
    _cleanup_(spells_clear) struct spells spells = {0};
    int err = parts && rests ? judge_processes(catalogue, &owned->job, rests, parts, &spells) : -ENOMEM;

    if (!err)
        err = hand_out(owned, profiles, parts, rests, &spells, judged);
    for (uint32_t v = 0; rests && v < volumes; v++)
        tally_clear(&rests[v]);
    return err;
}

/* The job that so many places are of. */
static int judge_places(const struct catalogue *catalogue, const struct aggregate *totals, const struct place *places,
                        uint32_t count, uint32_t *at, struct judged *judged)
{
    struct owned owned = {.at = at, .from = at + totals->job_count};
    int err;

    for (uint32_t v = 0; v < totals->job_count; v++)
        at[v] = NO_INDEX;
    err = gather(totals, places, count, &owned);
    if (!err)
        err = judge_owned(catalogue, &owned, judged);
    clear_owned(&owned);
    return err;
}

int homes_judge(const struct catalogue *catalogue, const struct aggregate *totals, struct judged **out)
{
    _cleanup_free_ struct place *places = NULL;
    _cleanup_free_ uint32_t *at = calloc(2u * totals->job_count + 1, sizeof(*at));
    struct judged *judged = calloc(totals->job_count + 1u, sizeof(*judged));
    size_t count = 0, to;
    int err = at && judged ? sort_places(totals, &places, &count) : -ENOMEM;

    for (uint32_t v = 0; !err && v < totals->job_count; v++) {
        int team = judge_team(catalogue, &totals->jobs[v]);

        judged[v].alone = team > 0;
        judged[v].parts = calloc(catalogue->count + 1, sizeof(*judged[v].parts));
        err = team < 0 || !judged[v].parts ? -ENOMEM : 0;
    }
    for (size_t from = 0; !err && from < count; from = to) {
        for (to = from + 1; to < count && places[to].home == places[from].home;)
            to++;
        err = judge_places(catalogue, totals, places + from, (uint32_t)(to - from), at, judged);
    }
    if (err)
        judged_free(judged, totals->job_count);
    else
        *out = judged;
    return err;
}

void judged_free(struct judged *judged, uint32_t count)
{
    for (uint32_t v = 0; judged && v < count; v++) {
        free(judged[v].parts);
        tally_clear(&judged[v].rest);
        spells_clear(&judged[v].spells);
    }
    free(judged);
}
