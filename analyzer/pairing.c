/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/pairing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/dropping.h"
#include "analyzer/fitting_bounds.h"
#include "analyzer/standing.h"
#include "lib/cleanup.h"

#define MUCH 0.1 /* of all operations, or of all bytes */

/* The best that was tried: what is active with it, and what is left out. */
struct pair {
    double net; /* score, without what the two have to be worth more */
    bool *active, *impossible;
};

static bool leaves_much(const struct fitting *fitting)
{
    double ops = part_ops(&fitting->whole), bytes = part_bytes(&fitting->whole);
    double left_ops = ops, left_bytes = bytes;

    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        if (fitting->active[p]) {
            left_ops -= part_ops(&fitting->at[p]);
            left_bytes -= part_bytes(&fitting->at[p]);
        }
    return left_ops > MUCH * ops || left_bytes > MUCH * bytes;
}

static bool stands(const struct fitting *fitting, uint32_t p)
{
    const struct part *part = &fitting->at[p];

    return fitting->active[p] && !standing_is_tiny(part) && standing_is_like(part) &&
           fitting_requirements(fitting, &fitting->catalogue->profiles[p], NULL, part) > 0;
}

/* Fits with both, and keeps what comes of it in *best if that is the best so far, and if each explains what the other does not,
   as it does alone. 0 or -ENOMEM. */
static int try_pair(struct fitting *fitting, const uint32_t of[2], const double *alone, double base, struct pair *best)
{
    double needed = 0, floor = fmax(base, best->net);
    int err;

    fitting->active[of[0]] = fitting->active[of[1]] = true;
    err = fitting_fit_above(fitting, fmax(floor, fmax(alone[of[0]], alone[of[1]])));
    for (unsigned i = 0; i < 2 && !err; i++)
        err = dropping_for(fitting, of[i], floor);
    if (err)
        return err == 1 ? 0 : err;
    for (unsigned i = 0; i < 2; i++) {
        if (!stands(fitting, of[i]))
            return 0;
        needed += standing_needed(fitting, of[i], part_ops(&fitting->at[of[i]]));
    }
    if (fitting->score - base < needed || fitting->score - MORE_COST * needed <= best->net)
        return 0;
    best->net = fitting->score - MORE_COST * needed;
    memcpy(best->active, fitting->active, fitting->catalogue->count * sizeof(bool));
    memcpy(best->impossible, fitting->impossible, fitting->signature_count * sizeof(bool));
    return 0;
}

/* Scores with one more, whatever else it is; the base, where there can be none or it does not explain as much as it must be
   worth. 0 or -ENOMEM. */
static int find_alone(struct fitting *fitting, double base, double *alone)
{
    double least = standing_least_ops(fitting);
    int err = 0;

    for (uint32_t p = 0; err >= 0 && p < fitting->catalogue->count; p++) {
        alone[p] = base;
        if (fitting->active[p] || !standing_may_be_part(fitting, &fitting->catalogue->profiles[p]))
            continue;
        fitting->active[p] = true;
        err = fitting_fit_above(fitting, base + standing_needed(fitting, p, least));
        fitting->active[p] = false;
        alone[p] = err ? base : fitting->score;
    }
    return err < 0 ? err : 0;
}

int pairing_better(struct fitting *fitting)
{
    const struct catalogue *catalogue = fitting->catalogue;
    _cleanup_free_ double *alone = calloc(catalogue->count + 1, sizeof(*alone));
    _cleanup_free_ bool *active = malloc(catalogue->count + 1);
    _cleanup_free_ bool *impossible = malloc(fitting->signature_count + 1);
    _cleanup_free_ bool *best_active = malloc(catalogue->count + 1);
    _cleanup_free_ bool *best_impossible = malloc(fitting->signature_count + 1);
    struct pair best = {.net = -INFINITY, .active = best_active, .impossible = best_impossible};
    double base;
    int err = alone && active && impossible && best_active && best_impossible ? fitting_fit(fitting) : -ENOMEM;

    if (err || !leaves_much(fitting))
        return err;
    base = fitting->score;
    memcpy(active, fitting->active, catalogue->count);
    memcpy(impossible, fitting->impossible, fitting->signature_count);
    err = find_alone(fitting, base, alone);
    for (uint32_t p = 0; !err && p < catalogue->count; p++)
        for (uint32_t q = p + 1; !err && q < catalogue->count; q++) {
            if (!(fmin(alone[p], alone[q]) > base))
                continue;
            err = try_pair(fitting, (const uint32_t[2]){p, q}, alone, base, &best);
            memcpy(fitting->active, active, catalogue->count);
            memcpy(fitting->impossible, impossible, fitting->signature_count);
        }
    if (err || best.net == -INFINITY)
        return err;
    memcpy(fitting->active, best_active, catalogue->count);
    memcpy(fitting->impossible, best_impossible, fitting->signature_count);
    return 1;
}
