/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting_bounds.h"

#include <math.h>
#include <string.h>

#define WHOLE "whole." /* begins the names of features that do not depend on a part */

static bool keeps(double value, const struct requirement *requirement)
{
    if (isnan(value))
        return isinf(requirement->min);
    return value >= requirement->min && value <= requirement->max;
}

static bool is_asked(const struct fitting *fitting, const struct requirement *bound)
{
    return !(bound->unordered && fitting->order.count);
}

bool fitting_suits_whole(const struct fitting *fitting, const struct signature *signature)
{
    struct feature_context context = fitting->context;

    context.part = context.whole = &fitting->whole;
    for (uint32_t i = 0; i < signature->requirement_count; i++) {
        const struct requirement *bound = &signature->requirements[i];

        if (strncmp(bound->feature, WHOLE, strlen(WHOLE)) == 0 && !(bound->otherwise > 0) && is_asked(fitting, bound) &&
            !keeps(feature_value(&context, bound->feature), bound))
            return false;
    }
    return true;
}

/* What is left of confidence when those of the bounds that are asked for are looked at. */
static double kept(const struct fitting *fitting, const struct feature_context *context, const struct requirement *bounds,
                   uint32_t count, bool each)
{
    double factor = 1;

    for (uint32_t i = 0; i < count; i++)
        if (bounds[i].each == each && is_asked(fitting, &bounds[i]) &&
            !keeps(feature_value(context, bounds[i].feature), &bounds[i]))
            factor *= bounds[i].otherwise;
    return factor;
}

static struct feature_context context_of(const struct fitting *fitting, const struct profile *profile,
                                         const struct part *part)
{
    struct feature_context context = fitting->context;

    context.part = part;
    context.whole = &fitting->whole;
    context.at = fitting->at;
    context.profiles = fitting->catalogue->count;
    context.profile = (uint32_t)(profile - fitting->catalogue->profiles);
    return context;
}

double fitting_requirements(const struct fitting *fitting, const struct profile *profile,
                            const struct signature *signature, const struct part *part)
{
    struct feature_context context = context_of(fitting, profile, part);
    double factor = kept(fitting, &context, profile->requirements, profile->requirement_count, signature);

    return signature ? factor * kept(fitting, &context, signature->requirements, signature->requirement_count, true)
                     : factor;
}

const struct requirement *fitting_broken(const struct fitting *fitting, const struct profile *profile,
                                         const struct part *part, double *value)
{
    struct feature_context context = context_of(fitting, profile, part);

    for (uint32_t i = 0; i < profile->requirement_count; i++) {
        const struct requirement *bound = &profile->requirements[i];

        *value = feature_value(&context, bound->feature);
        if (!bound->each && !(bound->otherwise > 0) && is_asked(fitting, bound) && !keeps(*value, bound))
            return bound;
    }
    return NULL;
}
