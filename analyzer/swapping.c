/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/swapping.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/standing.h"
#include "lib/cleanup.h"

void swapping_put(struct fitting *fitting, uint32_t in, uint32_t out)
{
    fitting->active[out] = false;
    fitting->active[in] = true;
}

static bool is_copy(const struct profile *profile)
{
    return profile->signature_count > 0 && profile->signatures[0].paired;
}

/* A profile in the place of one that is active. */
struct swap {
    uint32_t out, in;
    double net; /* score, without what the new one has to be worth more */
};

/* Fits with one in the place of the other, and keeps it in *best if that is the best so far. 0 or -ENOMEM. */
static int try_swap(struct fitting *fitting, struct swap swap, double had, struct swap *best)
{
    const struct part *part = &fitting->at[swap.in];
    int err;

    swapping_put(fitting, swap.in, swap.out);
    err = fitting_fit_above(fitting, best->net);
    if (!err && !standing_is_tiny(part) && standing_is_like(part) &&
        standing_find_broken(fitting, UINT32_MAX) == UINT32_MAX) {
        swap.net = fitting->score - MORE_COST * (standing_needed(fitting, swap.in, part_ops(part)) - had);
        if (swap.net > best->net)
            *best = swap;
    }
    swapping_put(fitting, swap.out, swap.in);
    return err < 0 ? err : 0;
}

int swapping_better(struct fitting *fitting)
{
    const struct catalogue *catalogue = fitting->catalogue;
    _cleanup_free_ double *had = calloc(catalogue->count + 1, sizeof(*had));
    struct swap best = {.out = UINT32_MAX, .net = fitting->score};
    int err = had ? 0 : -ENOMEM;

    for (uint32_t p = 0; !err && p < catalogue->count; p++)
        had[p] = fitting->active[p] ? standing_needed(fitting, p, part_ops(&fitting->at[p])) : 0;
    for (uint32_t p = 0; !err && p < catalogue->count; p++)
        for (uint32_t q = 0; !err && fitting->active[p] && q < catalogue->count; q++)
            if (is_copy(&catalogue->profiles[q]) && !fitting->active[q])
                err = try_swap(fitting, (struct swap){p, q, 0}, had[p], &best);
    if (err || best.out == UINT32_MAX)
        return err;
    swapping_put(fitting, best.in, best.out);
    return 1;
}
