/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/court.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/figure.h"
#include "analyzer/mixture.h"
#include "analyzer/peers.h"
#include "analyzer/pipes.h"
#include "analyzer/ways.h"
#include "lib/cleanup.h"
#include "lib/order.h"

/* A unit, where it belongs in order: units of one process lie beside each other, and the two ends of a pipe. */
struct place {
    uint32_t pipe, process, unit;
};

static int by_process(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return ORDER(x->pipe, y->pipe) ?: ORDER(x->process, y->process) ?: ORDER(x->unit, y->unit);
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

        court_sit_for(court, unit);
        err = court_give(court, profile, &unit->tally, match, true);
    }
    return err;
}

/* The two ends of a pipe, as one, which do all that together; 1 when it has no name. */
static int judge_pipe(struct court *court, const struct place *places, uint32_t count, const struct tally *whole)
{
    const struct profile *profile;
    struct behaviour behaviour;
    double match;

    court->process = NO_INDEX;
    behaviour_of(whole, &(struct peers){0}, &behaviour);
    behaviour.piped = 1;
    profile = ways_name(&behaviour, court->catalogue, SIDE_BOTH, &match);
    return profile ? give_units(court, places, count, profile, match) : 1;
}

/* All that a process did, whatever it does on each volume. */
static int leave_all(const struct court *court, struct rests *rests, const struct place *places, uint32_t count)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < count; i++)
        err = judge_leave(court, rests, &court->job->units[places[i].unit]);
    return err;
}

/* What is made of reading and writing looks like others where volumes are kept apart and only one of the two is seen; all else
   that a process is it is on each of them by itself. */
static bool is_apart(const struct court *court, const struct profile *profile, uint32_t count)
{
    return court->by_volume && count > 1 && !(profile && profile->reads && profile->writes);
}

static int judge_process(struct court *court, const struct peers *peers, const struct place *places, uint32_t count,
                         const struct tally *whole, struct rests *rests);

static int judge_each(struct court *court, const struct peers *peers, const struct place *places, uint32_t count,
                      struct rests *rests)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < count; i++)
        err = judge_process(court, peers, &places[i], 1, &court->job->units[places[i].unit].tally, rests);
    return err;
}

/* What is known of others beside a process, on all its volumes. */
static struct peers peers_beside(const struct court *court, const struct peers *peers, const struct place *places,
                                 uint32_t count)
{
    struct peers all = peers[places->unit];

    all.opened = all.files = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct peers *here = &peers[places[i].unit];

        if (!(here->opened > 0) && figure_bytes_of(&court->job->units[places[i].unit].tally.op[OP_OPEN].size, 1) > 0) {
            all.opened = all.files = 0; /* of some it is not known */
            break;
        }
        all.opened += here->opened;
        all.files += here->files;
    }
    return all;
}

static void note_unnamed(struct rests *rests, uint32_t unit, const struct peers *peers)
{
    if (peers->opens > FEW_OPENS)
        rests->some[rests->some_count++] = unit;
    else
        rests->unnamed[rests->unnamed_count++] = unit;
}

/* One that opened some files may be one of many alike; what all others do that do so little is looked at together. */
static int judge_tiny(const struct peers *peers)
{
    return peers->opens > FEW_OPENS ? IS_SOME : IS_BLEND;
}

/* One process, which does all that on its volumes. */
static int judge_process(struct court *court, const struct peers *peers, const struct place *places, uint32_t count,
                         const struct tally *whole, struct rests *rests)
{
    const struct peers others = peers_beside(court, peers, places, count);
    const struct profile *profile;
    struct behaviour behaviour;
    bool tiny = judge_is_tiny(whole), apart;
    double match;
    int err = 0;

    court->process = places->process;
    behaviour_of(whole, &others, &behaviour);
    profile = tiny ? NULL : ways_name(&behaviour, court->catalogue, SIDE_BOTH, &match);
    apart = is_apart(court, profile, count);
    if (profile && !apart)
        err = judge_blend(court, whole, judge_serves(court, &court->job->units[places->unit]), profile, profile);
    if (!err && apart)
        return judge_each(court, peers, places, count, rests);
    if (!err && profile)
        return give_units(court, places, count, profile, match);
    if (err > 0)
        return leave_all(court, rests, places, count);
    for (uint32_t i = 0; !err && i < count; i++) {
        const struct unit *unit = &court->job->units[places[i].unit];

        court_sit_for(court, unit);
        err = tiny ? judge_tiny(&peers[places[i].unit]) : judge_unit(court, unit, &peers[places[i].unit]);
        if (err == IS_FEW || err == IS_SOME) {
            note_unnamed(rests, places[i].unit, &peers[places[i].unit]);
            err = 0;
        } else if (err == IS_BLEND) {
            err = judge_leave(court, rests, unit);
        }
    }
    return err;
}

/* Those that are still to be judged. */
static int sort_units(const struct job_total *job, const bool *judged, struct place **out, uint32_t *count)
{
    struct place *places = calloc(job->unit_count + 1u, sizeof(*places));
    _cleanup_free_ uint32_t *pipes = NULL;

    if (!places || pipes_of(job, &pipes)) {
        free(places);
        return -ENOMEM;
    }
    *count = 0;
    for (uint32_t i = 0; i < job->unit_count; i++)
        if (!judged || !judged[i])
            places[(*count)++] = (struct place){pipes[i], job->units[i].process, i};
    qsort(places, *count, sizeof(*places), by_process);
    *out = places;
    return 0;
}

/* The processes of a pipe that are nothing together, each by itself. */
static int judge_ends(struct court *court, const struct peers *peers, const struct place *places, uint32_t count,
                      struct rests *rests)
{
    int err = 0;

    for (uint32_t from = 0, to; !err && from < count; from = to) {
        struct tally sum = {0};
        const struct tally *whole;

        for (to = from + 1; to < count && places[to].process == places[from].process;)
            to++;
        err = sum_of(court, places + from, to - from, &sum, &whole);
        if (!err)
            err = judge_process(court, peers, places + from, to - from, whole, rests);
        tally_clear(&sum);
    }
    return err;
}

/* What a process is may show on several of its volumes only, or in two processes. */
static void note_whole(const struct place *places, uint32_t count, const struct tally *whole, struct peers *peers)
{
    for (uint32_t i = 0; i < count; i++) {
        peers[places[i].unit].opens = figure_opens(whole);
        peers[places[i].unit].unpacked = figure_unpacked(whole);
        peers[places[i].unit].unwritten_syncs = figure_unwritten_syncs(whole);
    }
}

/* The processes of a pipe, or a single one. */
static int judge_group(struct court *court, struct peers *peers, const struct place *places, uint32_t count,
                       struct rests *rests)
{
    bool piped = places[0].process != places[count - 1].process;
    struct tally sum = {0};
    const struct tally *whole;
    int err = sum_of(court, places, count, &sum, &whole);

    if (!err) {
        note_whole(places, count, whole, peers);
        err = piped ? judge_pipe(court, places, count, whole) : judge_process(court, peers, places, count, whole, rests);
    }
    tally_clear(&sum);
    return piped && err == 1 ? judge_ends(court, peers, places, count, rests) : err;
}

/* Many short-lived processes that do little each are looked at together, volume by volume. */
int judge_units(struct court *court, const struct job_total *job, const bool *judged, struct tally *tallies)
{
    _cleanup_free_ uint32_t *unnamed = calloc(job->unit_count + 1u, sizeof(*unnamed));
    _cleanup_free_ uint32_t *some = calloc(job->unit_count + 1u, sizeof(*some));
    struct rests rests = {.tallies = tallies, .unnamed = unnamed, .some = some};
    _cleanup_free_ struct place *places = NULL;
    _cleanup_free_ struct peers *peers = NULL;
    int err = unnamed && some ? peers_of(job, &peers) : -ENOMEM;
    uint32_t count = 0;

    if (!err)
        err = sort_units(job, judged, &places, &count);
    for (uint32_t from = 0, to; !err && from < count; from = to) {
        for (to = from + 1; to < count && places[to].pipe == places[from].pipe;)
            to++;
        err = judge_group(court, peers, places + from, to - from, &rests);
    }
    return err ? err : judge_together(court, peers, &rests);
}
