/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/companions.h"

#include <math.h>

/* Operations of each kind. */
struct kinds {
    double ops[OP_COUNT][COMPANION_KINDS];
};

static double *operations_of(struct part *part, const struct companion *companion)
{
    switch (companion->kind) {
    case COMPANION_FAILED:
        return &part->failed[companion->op];
    case COMPANION_EMPTY:
        return &part->read[0];
    default:
        return &part->ok[companion->op];
    }
}

/* How many of them may go with what a part has got. */
static double most_of(const struct companion *companion, const struct part *part)
{
    double per = part->ok[companion->per];

    if (companion->per == OP_READ)
        per -= part->read[0];
    else if (companion->per == OP_WRITE)
        per -= part->write[0];
    return companion->most * fmax(0, per);
}

static void add_most(const struct profile *profile, const struct part *part, struct kinds *most)
{
    for (uint32_t i = 0; i < profile->companion_count; i++)
        most->ops[profile->companions[i].op][profile->companions[i].kind] += most_of(&profile->companions[i], part);
}

static void move(const struct companion *companion, double ops, struct part *from, struct part *to)
{
    *operations_of(from, companion) -= ops;
    *operations_of(to, companion) += ops;
    if (companion->kind == COMPANION_EMPTY) {
        from->ok[companion->op] -= ops;
        to->ok[companion->op] += ops;
    }
}

/* Of each kind there are so many, and patterns may have so many of them. */
static void take(const struct profile *profile, struct part *there, const struct kinds *most, struct part *rest,
                 struct part *part)
{
    const struct part had = *part;
    double fit = part->fit / part_ops(part), contested = part->contested / part_ops(part);

    for (uint32_t i = 0; i < profile->companion_count; i++) {
        const struct companion *companion = &profile->companions[i];
        double all = most->ops[companion->op][companion->kind], own = most_of(companion, &had);

        if (own > 0)
            move(companion, own * fmin(1, *operations_of(there, companion) / all), rest, part);
    }
    part->fit = fit * part_ops(part);
    part->contested = contested * part_ops(part);
}

void companions_take(const struct catalogue *catalogue, struct part *rest, struct part *parts)
{
    struct kinds most = {0};
    struct part there = *rest;

    for (uint32_t p = 0; p < catalogue->count; p++)
        add_most(&catalogue->profiles[p], &parts[p], &most);
    for (uint32_t p = 0; p < catalogue->count; p++)
        if (part_ops(&parts[p]) > 0)
            take(&catalogue->profiles[p], &there, &most, rest, &parts[p]);
}
