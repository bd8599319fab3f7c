/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/rivals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fitting_bounds.h"
#include "analyzer/standing.h"
#include "analyzer/swapping.h"
#include "lib/cleanup.h"

#define RIVAL_COST   0.1 /* nats an operation: for less, another profile may be it as well */
#define RIVAL_COMMON 0.5 /* of the part, which it would have to hold */

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

    swapping_put(fitting, other, profile);
    err = fitting_fit_above(fitting, standing_lower(score, nearest->cost * ops));
    swapping_put(fitting, profile, other);
    if (err)
        return err == 1 ? 0 : err;
    cost = fmax(0, score - fitting->score) / ops;
    if (cost < nearest->cost && !standing_is_tiny(part) && standing_is_like(part) &&
        common_ops(part, had) >= RIVAL_COMMON * ops && fitting_requirements(fitting, rival, NULL, part) > 0)
        *nearest = (struct rivalry){other, cost};
    return 0;
}

int rivals_find(struct fitting *fitting)
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
            if (standing_may_be_part(fitting, &catalogue->profiles[q]) && !fitting->active[q])
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
