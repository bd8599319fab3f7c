/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/standing.h"

#include <float.h>
#include <math.h>

#include "analyzer/fitting_bounds.h"

#define PART_OPS_MIN   10
#define PART_BYTES_MIN (4u << 20) /* fewer operations are fine if they moved this much */
#define NEEDED_OPS     0.15       /* share of all operations; what holds more than that need not be worth more */
#define FIT_MIN        0.65       /* a part that is less like its signature is not named after it */

bool standing_is_tiny(const struct part *part)
{
    return part_ops(part) < PART_OPS_MIN && part_bytes(part) < PART_BYTES_MIN;
}

bool standing_lacks_bytes(const struct fitting *fitting, uint32_t p)
{
    unsigned work = fitting->catalogue->profiles[p].work;
    const struct part *part = &fitting->at[p], *whole = &fitting->whole;
    bool maps = fitting->context.minors > 0 && whole->ok[OP_READ] - whole->read[0] < part_opens(whole);

    return work && !(work & WORK_NAMES) && !maps && part_bytes(part) < part_ops(part);
}

double standing_least_ops(const struct fitting *fitting)
{
    double most = 0;

    for (size_t i = 0; i < fitting->bin_count; i++)
        most = fmax(most, fitting->bins[i].bytes / fitting->bins[i].ops);
    return fmin(PART_OPS_MIN, PART_BYTES_MIN / most);
}

bool standing_is_like(const struct part *part)
{
    return part->fit >= FIT_MIN * part_ops(part);
}

double standing_match(const struct fitting *fitting, uint32_t p)
{
    const struct part *part = &fitting->at[p];

    return part->fit / part_ops(part) * fitting_requirements(fitting, &fitting->catalogue->profiles[p], NULL, part);
}

bool standing_may_be_named(const struct fitting *fitting, uint32_t p, double match)
{
    return match * fitting->catalogue->profiles[p].confidence >= SURE_MIN;
}

bool standing_is_sure(const struct fitting *fitting, uint32_t p)
{
    double match = standing_match(fitting, p);

    return standing_is_like(&fitting->at[p]) && (!(match > 0) || standing_may_be_named(fitting, p, match));
}

double standing_needed(const struct fitting *fitting, uint32_t profile, double ops)
{
    return fitting->catalogue->profiles[profile].worth * fmin(ops, NEEDED_OPS * part_ops(&fitting->whole));
}

double standing_lower(double score, double by)
{
    return score - by - 4 * DBL_EPSILON * (fabs(score) + fabs(by));
}

bool standing_may_be_part(const struct fitting *fitting, const struct profile *profile)
{
    return !profile->pipeline && !(profile->alone && fitting->context.process);
}

uint32_t standing_find_broken(const struct fitting *fitting, uint32_t added)
{
    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        if (fitting->active[p] && p != added && !standing_is_tiny(&fitting->at[p]) &&
            !(fitting_requirements(fitting, &fitting->catalogue->profiles[p], NULL, &fitting->at[p]) > 0))
            return p;
    return UINT32_MAX;
}
