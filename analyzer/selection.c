/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/selection.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define PART_OPS_MIN   10
#define PART_BYTES_MIN (4u << 20) /* fewer operations are fine if they moved this much */
#define NEEDED_OPS     0.15       /* share of all operations; what holds more than that need not be worth more */
#define MORE_COST      0.05       /* of that: of two that explain nearly as much, the one that holds less is it */
#define FIT_MIN        0.65       /* a part that is less like its signature is not named after it */
#define RIVAL_COST     0.1        /* nats an operation: for less, another profile may be it as well */
#define RIVAL_COMMON   0.5        /* of the part, which it would have to hold */

static bool is_tiny(const struct part *part)
{
    return part_ops(part) < PART_OPS_MIN && part_bytes(part) < PART_BYTES_MIN;
}

/* What a profile's part of so many operations is to be worth, in nats. */
static double needed(const struct fitting *fitting, uint32_t profile, double ops)
{
    return fitting->catalogue->profiles[profile].worth * fmin(ops, NEEDED_OPS * part_ops(&fitting->whole));
}

/* What a process does alone or not at all, others may do beside it in a sum. */
static bool may_be_part(const struct fitting *fitting, const struct profile *profile)
{
    return !profile->pipeline && !(profile->alone && fitting->process);
}

/* What is no higher is lower by at least so much, or higher by at most that where it is negative, however all of them
   were rounded. */
static double lower(double score, double by)
{
    return score - by - 4 * DBL_EPSILON * (fabs(score) + fabs(by));
}

/* What leaving a profile out of the active ones costs: 1 if it is less than it must be worth, 0 if not, or -ENOMEM. */
static int is_needless(struct fitting *fitting, uint32_t profile, double ops, double score)
{
    int err;

    fitting->active[profile] = false;
    err = fitting_fit_above(fitting, lower(score, needed(fitting, profile, ops)));
    fitting->active[profile] = true;
    if (err)
        return err == 1 ? 0 : err;
    return score - fitting->score < needed(fitting, profile, ops);
}

/* One of the active profiles, but not `added`, that does not keep its bounds; UINT32_MAX when all do. */
static uint32_t find_broken(const struct fitting *fitting, uint32_t added)
{
    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        if (fitting->active[p] && p != added && !is_tiny(&fitting->at[p]) &&
            !(fitting_requirements(fitting, &fitting->catalogue->profiles[p], &fitting->at[p], false) > 0))
            return p;
    return UINT32_MAX;
}

/* Leaves out, one after the other, those that do not keep their bounds beside what was added, and fits what is left. 0,
   -ENOMEM, or 1 when it is not above the floor. */
static int drop_broken(struct fitting *fitting, uint32_t added, double floor)
{
    int err = 0;

    for (uint32_t p; !err && (p = find_broken(fitting, added)) != UINT32_MAX;) {
        fitting->active[p] = false;
        err = fitting_fit_above(fitting, floor);
    }
    return err;
}

/* No part that has fewer operations is more than tiny. */
static double least_ops(const struct fitting *fitting)
{
    double most = 0;

    for (size_t i = 0; i < fitting->bin_count; i++)
        most = fmax(most, fitting->bins[i].bytes / fitting->bins[i].ops);
    return fmin(PART_OPS_MIN, PART_BYTES_MIN / most);
}

/* A profile that may be added to the active ones. */
struct candidate {
    uint32_t profile;
    double score; /* of the last fit with it, which was no higher at least */
};

static int by_score(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->profile > y->profile) - (x->profile < y->profile);
}

static bool is_like(const struct part *part)
{
    return part->fit >= FIT_MIN * part_ops(part);
}

/* A recipe that asks for much that is not there may have taken what others did. Leaves out the one that has most of
   that, and fits what is left, until all of the profile's part is like its recipes. 0, -ENOMEM, or 1 when it is not
   above the floor. */
static int drop_unlike(struct fitting *fitting, uint32_t profile, double floor)
{
    int err = 0;

    while (!err && !is_like(&fitting->at[profile]) && fitting_drop_unlike(fitting, profile))
        err = fitting_fit_above(fitting, floor);
    return err;
}

/* Adds one to the active ones, if that passes the floor, and looks what comes of it: 1 if it may be chosen. 0 or
   -ENOMEM. */
static int try_candidate(struct fitting *fitting, struct candidate *candidate, double base, double floor,
                         double *rejected)
{
    const struct profile *profile = &fitting->catalogue->profiles[candidate->profile];
    const struct part *part = &fitting->at[candidate->profile];
    double ops;
    int err;

    fitting->active[candidate->profile] = true;
    err = fitting_fit_above(fitting, floor);
    candidate->score = err ? floor : fitting->score;
    if (!err)
        err = drop_unlike(fitting, candidate->profile, floor);
    if (!err)
        err = drop_broken(fitting, candidate->profile, floor);
    if (err)
        return err == 1 ? 0 : err;
    ops = part_ops(part);
    if (is_tiny(part) || fitting->score - base < needed(fitting, candidate->profile, ops))
        return 0;
    if (fitting_requirements(fitting, profile, part, false) > 0 && is_like(part))
        return 1;
    *rejected = fmax(*rejected, ops);
    return 0;
}

/*
 * The profile that, added to the active ones, explains most, and holds little for that: it keeps its bounds, is more
 * than a trace, and what it holds could not nearly as well be explained without it. UINT32_MAX in *best when there is
 * none, and then *rejected is the most that one would hold but for its bounds. Those that explained most the last time
 * come first, as those behind one that is good need only be fitted for as long as they may be better. 0 or -ENOMEM.
 */
static int find_best(struct fitting *fitting, struct candidate *candidates, uint32_t count, uint32_t *best,
                     double *rejected)
{
    _cleanup_free_ bool *active = malloc(fitting->catalogue->count + 1);
    _cleanup_free_ bool *impossible = malloc(fitting->signature_count + 1);
    double base = fitting->score, top = base, least = least_ops(fitting);

    if (!active || !impossible)
        return -ENOMEM;
    memcpy(impossible, fitting->impossible, fitting->signature_count);
    memcpy(active, fitting->active, fitting->catalogue->count);
    *best = UINT32_MAX;
    *rejected = 0;
    qsort(candidates, count, sizeof(*candidates), by_score);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = candidates[i].profile;
        double cost = needed(fitting, p, least), net;
        int good;

        if (fitting->active[p])
            continue;
        good = try_candidate(fitting, &candidates[i], base,
                             fmax(lower(base, -cost), lower(top, -MORE_COST * cost)), rejected);
        memcpy(fitting->active, active, fitting->catalogue->count);
        memcpy(fitting->impossible, impossible, fitting->signature_count);
        if (good < 0)
            return good;
        net = fitting->score - MORE_COST * needed(fitting, p, part_ops(&fitting->at[p]));
        if (good && (net > top || *best == UINT32_MAX || (net == top && p < *best))) {
            top = net;
            *best = p;
        }
    }
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

int selection_fit(struct fitting *fitting, double *rejected)
{
    const struct catalogue *catalogue = fitting->catalogue;
    _cleanup_free_ struct candidate *candidates = calloc(catalogue->count + 1, sizeof(*candidates));
    uint32_t count = 0;
    int err = candidates ? fitting_fit(fitting) : -ENOMEM;

    for (uint32_t p = 0; !err && p < catalogue->count; p++)
        if (may_be_part(fitting, &catalogue->profiles[p]))
            candidates[count++].profile = p;
    for (uint32_t round = 0; !err && round < 2 * catalogue->count; round++) {
        uint32_t best;

        err = find_best(fitting, candidates, count, &best, rejected);
        if (err)
            break;
        if (best == UINT32_MAX)
            return fitting_fit(fitting);
        fitting->active[best] = true;
        err = fitting_fit(fitting);
        if (!err)
            err = drop_unlike(fitting, best, -INFINITY);
        if (!err)
            err = drop_broken(fitting, best, -INFINITY);
        while (!err && (err = drop_needless(fitting, fitting->score)) == 1)
            err = fitting_fit(fitting);
    }
    return err;
}

/* What a profile and its nearest rival are apart, in nats an operation. */
struct rivalry {
    uint32_t rival;
    double cost;
};

/* Operations that two parts have in common, were they of the same data. */
static double common_ops(const struct part *a, const struct part *b)
{
    double common = 0;

    for (unsigned op = 0; op < OP_COUNT; op++)
        common += fmin(a->ok[op], b->ok[op]) + fmin(a->failed[op], b->failed[op]);
    return common;
}

/* Puts one profile, which had that part, in the place of another. 0 or -ENOMEM. */
static int try_rival(struct fitting *fitting, uint32_t profile, uint32_t other, const struct part *had, double score,
                     struct rivalry *nearest)
{
    double ops = part_ops(had);
    const struct profile *rival = &fitting->catalogue->profiles[other];
    const struct part *part = &fitting->at[other];
    double cost;
    int err;

    fitting->active[profile] = false;
    fitting->active[other] = true;
    err = fitting_fit_above(fitting, lower(score, nearest->cost * ops));
    fitting->active[profile] = true;
    fitting->active[other] = false;
    if (err)
        return err == 1 ? 0 : err;
    cost = fmax(0, score - fitting->score) / ops;
    if (cost < nearest->cost && !is_tiny(part) && is_like(part) &&
        common_ops(part, had) >= RIVAL_COMMON * ops && fitting_requirements(fitting, rival, part, false) > 0)
        *nearest = (struct rivalry){other, cost};
    return 0;
}

int selection_find_rivals(struct fitting *fitting)
{
    const struct catalogue *catalogue = fitting->catalogue;
    _cleanup_free_ struct rivalry *nearest = calloc(catalogue->count + 1, sizeof(*nearest));
    _cleanup_free_ struct part *had = calloc(catalogue->count + 1, sizeof(*had));
    double score = fitting->score;
    int err = nearest && had ? 0 : -ENOMEM;

    if (!err)
        memcpy(had, fitting->at, catalogue->count * sizeof(*had));
    for (uint32_t p = 0; !err && p < catalogue->count; p++) {
        nearest[p].cost = RIVAL_COST;
        for (uint32_t q = 0; !err && fitting->active[p] && part_ops(&had[p]) > 0 && q < catalogue->count; q++)
            if (may_be_part(fitting, &catalogue->profiles[q]) && !fitting->active[q])
                err = try_rival(fitting, p, q, &had[p], score, &nearest[p]);
    }
    if (!err)
        err = fitting_fit(fitting);
    for (uint32_t p = 0; !err && p < catalogue->count; p++)
        if (nearest[p].cost < RIVAL_COST) {
            fitting->at[p].contested = (1 - nearest[p].cost / RIVAL_COST) * part_ops(&had[p]);
            fitting->at[p].rival = nearest[p].rival;
        }
    return err;
}
