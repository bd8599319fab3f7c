/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/companions.h"

#include <math.h>

#define LITTLE 0.1 /* of all operations, and of all bytes */

/* A figure of each kind of operation. */
struct kinds {
    double of[OP_COUNT][COMPANION_KINDS];
};

static double *operations_of(struct part *part, enum operation op, enum companion_kind kind)
{
    switch (kind) {
    case COMPANION_FAILED:
        return &part->failed[op];
    case COMPANION_EMPTY:
        return &part->read[0];
    default:
        return &part->ok[op];
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
        most->of[profile->companions[i].op][profile->companions[i].kind] += most_of(&profile->companions[i], part);
}

/* Makes of the most that patterns may have the share of it that there is. */
static void make_shares(struct kinds *kinds, struct part *rest)
{
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        for (enum companion_kind kind = 0; kind < COMPANION_KINDS; kind++)
            if (kinds->of[op][kind] > 0)
                kinds->of[op][kind] = fmin(1, *operations_of(rest, op, kind) / kinds->of[op][kind]);
}

/* Those that succeed take their bytes with them. */
static void move(const struct companion *companion, double ops, struct part *from, struct part *to)
{
    double *source = operations_of(from, companion->op, companion->kind), bytes;

    if (!(ops > 0))
        return;
    bytes = companion->kind == COMPANION_OK ? from->bytes[companion->op] * ops / *source : 0;
    *source -= ops;
    *operations_of(to, companion->op, companion->kind) += ops;
    from->bytes[companion->op] -= bytes;
    to->bytes[companion->op] += bytes;
    if (companion->kind == COMPANION_EMPTY) {
        from->ok[companion->op] -= ops;
        to->ok[companion->op] += ops;
    }
}

static void take(const struct profile *profile, const struct kinds *shares, struct part *rest, struct part *part)
{
    const struct part had = *part;

    for (uint32_t i = 0; i < profile->companion_count; i++) {
        const struct companion *companion = &profile->companions[i];

        move(companion, shares->of[companion->op][companion->kind] * most_of(companion, &had), rest, part);
    }
    part_keep_likeness(part, part_ops(&had));
}

void companions_take(const struct catalogue *catalogue, struct part *rest, struct part *parts)
{
    struct kinds kinds = {0};

    for (uint32_t p = 0; p < catalogue->count; p++)
        add_most(&catalogue->profiles[p], &parts[p], &kinds);
    make_shares(&kinds, rest);
    for (uint32_t p = 0; p < catalogue->count; p++)
        if (part_ops(&parts[p]) > 0)
            take(&catalogue->profiles[p], &kinds, rest, &parts[p]);
}

static void take_share(const struct part *rest, double ops, double bytes, struct part *part)
{
    double had = part_ops(part);

    part_add_share(part, rest, ops, bytes);
    part->given = part_ops(part) - had;
}

void companions_take_little(const struct catalogue *catalogue, struct part *rest, struct part *parts)
{
    double ops = 0, bytes = 0;

    for (uint32_t p = 0; p < catalogue->count; p++) {
        ops += part_ops(&parts[p]);
        bytes += part_bytes(&parts[p]);
    }
    if (!(ops > 0) || !(part_ops(rest) < LITTLE * (ops + part_ops(rest))) ||
        part_bytes(rest) > LITTLE * (bytes + part_bytes(rest)))
        return;
    for (uint32_t p = 0; p < catalogue->count; p++)
        if (part_ops(&parts[p]) > 0)
            take_share(rest, part_ops(&parts[p]) / ops, bytes > 0 ? part_bytes(&parts[p]) / bytes : 0, &parts[p]);
    *rest = (struct part){0};
}
