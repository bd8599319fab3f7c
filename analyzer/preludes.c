/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/preludes.h"

#define NAMES_PER_OPEN 1.5  /* of the files that others open */
#define LITTLE         5000 /* operations */
#define REMOVALS       0.05 /* of a walk's operations */

/* What is done by others than those who only walk. */
struct others {
    double ops, opens;
};

static double tried(const struct part *part, enum operation op)
{
    return part->ok[op] + part->failed[op];
}

static bool is_other(const struct catalogue *catalogue, const struct part *parts, uint32_t profile)
{
    return !catalogue->profiles[profile].prelude && part_ops(&parts[profile]) > 0;
}

static struct others others_of(const struct catalogue *catalogue, const struct part *parts)
{
    struct others others = {0};

    for (uint32_t p = 0; p < catalogue->count; p++)
        if (is_other(catalogue, parts, p)) {
            others.ops += part_ops(&parts[p]);
            others.opens += parts[p].ok[OP_OPEN];
        }
    return others;
}

static bool is_prelude(const struct part *walk, const struct others *others)
{
    double ops = part_ops(walk), names = tried(walk, OP_STAT) + tried(walk, OP_SETATTR);

    if (!(ops > 0) || tried(walk, OP_UNLINK) > REMOVALS * ops)
        return false;
    return names <= NAMES_PER_OPEN * others->opens || (ops < LITTLE && ops <= others->ops);
}

static void move(const struct part *walk, double share, uint32_t profile, struct part *to)
{
    part_add_share(to, walk, share, share);
    to->prelude += share * part_ops(walk);
    to->first = profile;
}

void preludes_take(const struct catalogue *catalogue, struct part *parts)
{
    struct others others = others_of(catalogue, parts);

    for (uint32_t w = 0; w < catalogue->count; w++) {
        struct part walk = parts[w];

        if (!catalogue->profiles[w].prelude || !is_prelude(&walk, &others))
            continue;
        for (uint32_t p = 0; p < catalogue->count; p++)
            if (is_other(catalogue, parts, p))
                move(&walk, others.opens > 0 ? parts[p].ok[OP_OPEN] / others.opens : part_ops(&parts[p]) / others.ops, w,
                     &parts[p]);
        parts[w] = (struct part){0};
    }
}
