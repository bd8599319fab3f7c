/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/ways.h"

#include <math.h>
#include <stddef.h>

#define AT_BOUND  0.6 /* confidence of what is just inside */
#define SHARPNESS 3.0 /* how fast it grows with the distance, in powers of the ratio */

/* 0.6 at the bound, towards 1 with the distance. */
static double inside(double nearness)
{
    return 1 - (1 - AT_BOUND) * pow(nearness, SHARPNESS);
}

/* A share cannot get farther away than 1: half of the way there is far. */
static double room(double share, double bound)
{
    return fmax(0, 1 - 2 * (share - bound) / (1 - bound));
}

static double match(double value, const struct requirement *bound)
{
    double factor = 1;

    if (isnan(value))
        return isinf(bound->min) ? 1 : 0; /* nothing is known that speaks against it */
    if (value < bound->min || value > bound->max)
        return bound->otherwise;
    if (bound->min > 0)
        factor = fmin(factor, inside(bound->min < 1 && value <= 1 ? room(value, bound->min) : bound->min / value));
    if (!isinf(bound->max) && bound->max > 0)
        factor = fmin(factor, inside(value / bound->max));
    return factor;
}

static double match_ways(const struct behaviour *behaviour, const struct profile *profile, enum side side, bool first)
{
    double best = 0;

    for (uint32_t w = 0; w < profile->way_count; w++) {
        const struct way *way = &profile->ways[w];
        double least = 1;

        if (way->side != side || (first && !way->first))
            continue;
        for (uint32_t i = 0; i < way->requirement_count; i++)
            least = fmin(least, match(behaviour_value(behaviour, way->requirements[i].feature), &way->requirements[i]));
        best = fmax(best, least);
    }
    return best;
}

double ways_match(const struct behaviour *behaviour, const struct profile *profile, enum side side)
{
    return match_ways(behaviour, profile, side, false);
}

static const struct profile *name_by(const struct behaviour *behaviour, const struct catalogue *catalogue, enum side side,
                                     bool first, double *best)
{
    const struct profile *found = NULL;

    *best = 0;
    for (uint32_t p = 0; p < catalogue->count; p++) {
        double value = match_ways(behaviour, &catalogue->profiles[p], side, first);

        if (value > *best) {
            *best = value;
            found = &catalogue->profiles[p];
        }
    }
    return found;
}

const struct profile *ways_name_first(const struct behaviour *behaviour, const struct catalogue *catalogue,
                                           enum side side, double *match)
{
    return name_by(behaviour, catalogue, side, true, match);
}

const struct profile *ways_name(const struct behaviour *behaviour, const struct catalogue *catalogue,
                                     enum side side, double *match)
{
    const struct profile *found = ways_name_first(behaviour, catalogue, side, match);

    return found ? found : name_by(behaviour, catalogue, side, false, match);
}
