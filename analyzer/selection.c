/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/selection.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/dropping.h"
#include "analyzer/fitting_bounds.h"
#include "analyzer/pairing.h"
#include "analyzer/standing.h"
#include "analyzer/swapping.h"
#include "lib/cleanup.h"
#include "lib/order.h"

/* A profile that may be added to the active ones. */
struct candidate {
    uint32_t profile;
    double score; /* of the last fit with it, which was no higher at least */
};

static int by_score(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    return ORDER(y->score, x->score) ?: ORDER(x->profile, y->profile);
}

/* A candidate that is not worth all that it took may be without its largest recipe, which took what others explain as
   well. 0, -ENOMEM, or 1 when that is not above the floor. */
static int fit_worthy(struct fitting *fitting, uint32_t candidate, double base, double floor)
{
    const struct part *part = &fitting->at[candidate];
    int err = 0;

    while (!err && !standing_is_tiny(part) &&
           fitting->score - base < standing_needed(fitting, candidate, part_ops(part)) &&
           fitting_drop_largest(fitting, candidate)) {
        err = fitting_fit_above(fitting, floor);
        if (!err)
            err = dropping_for(fitting, candidate, floor);
    }
    return err;
}

/* Adds one to the active ones, if that passes the floor, and looks what comes of it: 1 if it may be chosen. 0 or
   -ENOMEM. */
static int try_candidate(struct fitting *fitting, struct candidate *candidate, double base, double floor,
                         struct rejected *rejected)
{
    const struct profile *profile = &fitting->catalogue->profiles[candidate->profile];
    const struct part *part = &fitting->at[candidate->profile];
    double ops;
    int err;

    fitting->active[candidate->profile] = true;
    err = fitting_fit_above(fitting, floor);
    candidate->score = err ? floor : fitting->score;
    if (!err)
        err = dropping_for(fitting, candidate->profile, floor);
    if (!err)
        err = fit_worthy(fitting, candidate->profile, base, floor);
    if (err)
        return err == 1 ? 0 : err;
    ops = part_ops(part);
    if (standing_is_tiny(part) || fitting->score - base < standing_needed(fitting, candidate->profile, ops))
        return 0;
    if (fitting_requirements(fitting, profile, NULL, part) > 0 && standing_is_like(part))
        return 1;
    if (ops > rejected->ops) {
        *rejected = (struct rejected){.ops = ops, .profile = profile};
        rejected->broken = fitting_broken(fitting, profile, part, &rejected->value);
    }
    return 0;
}

/* What leaving a profile out of the active ones costs: 1 if it is less than it must be worth, 0 if not, or -ENOMEM. */
static int is_needless(struct fitting *fitting, uint32_t profile, double ops, double score)
{
    int err;

    fitting->active[profile] = false;
    err = fitting_fit_above(fitting, standing_lower(score, standing_needed(fitting, profile, ops)));
    fitting->active[profile] = true;
    if (err)
        return err == 1 ? 0 : err;
    return score - fitting->score < standing_needed(fitting, profile, ops);
}

/*
 * The profile that, added to the active ones, explains most, and holds little for that: it keeps its bounds, is more
 * than a trace, and what it holds could not nearly as well be explained without it. Recipes that it does without are
 * left out of further fits. UINT32_MAX in *best when there is none, and then *rejected is the most that one would hold
 * but for its bounds. Those that explained most the last time come first, as those behind one that is good need only be
 * fitted for as long as they may be better. 0 or -ENOMEM.
 */
static int find_best(struct fitting *fitting, struct candidate *candidates, uint32_t count, uint32_t *best,
                     struct rejected *rejected)
{
    _cleanup_free_ bool *active = malloc(fitting->catalogue->count + 1);
    _cleanup_free_ bool *impossible = malloc(fitting->signature_count + 1);
    _cleanup_free_ bool *of_best = malloc(fitting->signature_count + 1);
    double base = fitting->score, top = base, least = standing_least_ops(fitting);

    if (!active || !impossible || !of_best)
        return -ENOMEM;
    memcpy(impossible, fitting->impossible, fitting->signature_count);
    memcpy(active, fitting->active, fitting->catalogue->count);
    *best = UINT32_MAX;
    *rejected = (struct rejected){0};
    qsort(candidates, count, sizeof(*candidates), by_score);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = candidates[i].profile;
        double cost = standing_needed(fitting, p, least), net;
        int good;

        if (fitting->active[p])
            continue;
        good = try_candidate(fitting, &candidates[i], base,
                             fmax(standing_lower(base, -cost), standing_lower(top, -MORE_COST * cost)), rejected);
        memcpy(fitting->active, active, fitting->catalogue->count);
        if (good < 0)
            return good;
        net = fitting->score - MORE_COST * standing_needed(fitting, p, part_ops(&fitting->at[p]));
        if (good && (net > top || *best == UINT32_MAX || (net == top && p < *best))) {
            top = net;
            *best = p;
            memcpy(of_best, fitting->impossible, fitting->signature_count);
        }
        memcpy(fitting->impossible, impossible, fitting->signature_count);
    }
    if (*best != UINT32_MAX)
        memcpy(fitting->impossible, of_best, fitting->signature_count);
    return 0;
}

/* Drops a profile that a later one has made needless. 1 if there was one, 0 or -ENOMEM. */
static int drop_needless(struct fitting *fitting, double score)
{
    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        double ops = part_ops(&fitting->at[p]);
        int err;

        if (!fitting->active[p])
            continue;
        err = ops > 0 ? is_needless(fitting, p, ops, score) : 1;
        if (err == 1)
            fitting->active[p] = false;
        if (err)
            return err;
        err = fitting_fit(fitting);
        if (err)
            return err;
    }
    return 0;
}

/* When there is none to add: 1 if one was put in the place of another, or two were added at once, so that there may be. 0 or
   -ENOMEM. */
static int settle(struct fitting *fitting)
{
    int err = fitting_fit(fitting);

    if (err || fitting->context.process)
        return err;
    err = swapping_better(fitting);
    if (!err)
        err = pairing_better(fitting);
    return err ? err : dropping_unsure(fitting);
}

int selection_fit(struct fitting *fitting, struct rejected *rejected)
{
    const struct catalogue *catalogue = fitting->catalogue;
    _cleanup_free_ struct candidate *candidates = calloc(catalogue->count + 1, sizeof(*candidates));
    uint32_t count = 0;
    int err = candidates ? fitting_fit(fitting) : -ENOMEM;

    for (uint32_t p = 0; !err && p < catalogue->count; p++)
        if (standing_may_be_part(fitting, &catalogue->profiles[p]))
            candidates[count++].profile = p;
    for (uint32_t round = 0; !err && round < 2 * catalogue->count; round++) {
        uint32_t best;

        err = find_best(fitting, candidates, count, &best, rejected);
        if (err)
            break;
        if (best == UINT32_MAX) {
            err = settle(fitting);
            if (err != 1)
                return err;
            err = fitting_fit(fitting);
            continue;
        }
        fitting->active[best] = true;
        err = fitting_fit(fitting);
        if (!err)
            err = dropping_for(fitting, best, -INFINITY);
        while (!err && (err = drop_needless(fitting, fitting->score)) == 1)
            err = fitting_fit(fitting);
    }
    return err;
}
