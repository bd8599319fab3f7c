/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/companions.h"

#include <math.h>
#include <stdbool.h>

#include "analyzer/filing.h"

#define LITTLE 0.1 /* of all operations, and of all bytes */

/* Of what companions may be: files of each kind, what is none, and what it was not counted of. */
#define TOLD  (FILE_SIZES + 1)
#define FILES (TOLD + 1)

/* A figure of each kind of operation. */
struct kinds {
    double of[OP_COUNT][COMPANION_KINDS][FILES];
};

/* Of the sizes that reads may have which are companions. */
static bool is_of_companions(unsigned bucket)
{
    return bucket > 0 && bucket_lower(bucket) < COMPANION_READ_MAX;
}

static double all_of(const struct part *part, enum operation op, enum companion_kind kind)
{
    double reads = 0;

    if (kind == COMPANION_FAILED)
        return part->failed[op];
    if (kind == COMPANION_EMPTY)
        return part->read[0];
    if (op != OP_READ)
        return part->ok[op];
    for (unsigned bucket = 0; bucket < part->filled; bucket++)
        reads += is_of_companions(bucket) ? part->read[bucket] : 0;
    return reads;
}

/* Where operations of that kind are counted by files; NULL: nowhere. */
static const double *told_of(const struct part *part, enum operation op, enum companion_kind kind)
{
    return kind == COMPANION_EMPTY || (kind == COMPANION_OK && op != OP_READ) ? part->of_files[op] : NULL;
}

static double count_of(const struct part *part, enum operation op, enum companion_kind kind, unsigned files)
{
    const double *told = told_of(part, op, kind);
    double untold = all_of(part, op, kind);

    if (files < TOLD)
        return told ? told[files] : 0;
    for (unsigned i = 0; told && i < TOLD; i++)
        untold -= told[i];
    return fmax(0, untold);
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

/* The files that a profile's companions may be of, a bit for each kind: those that one of its signatures reads, and none. */
static unsigned files_of(const struct profile *profile)
{
    unsigned files = FILES_OTHERS | 1u << TOLD;

    for (uint32_t s = 0; s < profile->signature_count; s++)
        files |= signature_files(&profile->signatures[s]);
    return files;
}

static void add_most(const struct profile *profile, const struct part *part, struct kinds *most)
{
    unsigned of = files_of(profile);

    for (uint32_t i = 0; i < profile->companion_count; i++) {
        const struct companion *companion = &profile->companions[i];
        double ops = most_of(companion, part);

        for (unsigned files = 0; files < FILES; files++)
            most->of[companion->op][companion->kind][files] += of >> files & 1 ? ops : 0;
    }
}

/* Makes of the most that patterns may have the share of it that there is. */
static void make_shares(struct kinds *kinds, const struct part *rest)
{
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        for (enum companion_kind kind = 0; kind < COMPANION_KINDS; kind++)
            for (unsigned files = 0; files < FILES; files++)
                if (kinds->of[op][kind][files] > 0)
                    kinds->of[op][kind][files] = fmin(1, count_of(rest, op, kind, files) / kinds->of[op][kind][files]);
}

/* That share of the reads of each size. */
static void move_reads(double share, struct part *from, struct part *to)
{
    for (unsigned bucket = 0; bucket < from->filled; bucket++) {
        struct bin bin = {.op = OP_READ, .bucket = (uint16_t)bucket, .ops = share * from->read[bucket]};

        if (!is_of_companions(bucket) || !(bin.ops > 0))
            continue;
        bin.bytes = fmin(bin.ops * bucket_middle(bucket), from->bytes[OP_READ]);
        from->ok[OP_READ] -= bin.ops;
        from->read[bucket] -= bin.ops;
        from->bytes[OP_READ] -= bin.bytes;
        part_add_bin(to, &bin, bin.ops);
    }
}

/* Those that succeed take their bytes with them. */
static void move(const struct companion *companion, unsigned files, double ops, struct part *from, struct part *to)
{
    enum operation op = companion->op;
    double all = all_of(from, op, companion->kind), bytes;

    ops = fmin(ops, all); /* what was counted by files may be more by a rounding */
    if (!(ops > 0))
        return;
    if (files < TOLD) {
        from->of_files[op][files] -= ops;
        to->of_files[op][files] += ops;
    }
    if (companion->kind == COMPANION_FAILED) {
        from->failed[op] -= ops;
        to->failed[op] += ops;
        return;
    }
    if (companion->kind == COMPANION_OK && op == OP_READ) {
        move_reads(ops / all, from, to);
        return;
    }
    if (companion->kind == COMPANION_EMPTY) {
        from->read[0] -= ops;
        to->read[0] += ops;
    }
    bytes = companion->kind == COMPANION_OK ? from->bytes[op] * ops / all : 0;
    from->ok[op] -= ops;
    to->ok[op] += ops;
    from->bytes[op] -= bytes;
    to->bytes[op] += bytes;
}

static void take(const struct profile *profile, const struct kinds *shares, struct part *rest, struct part *part)
{
    const struct part had = *part;
    unsigned of = files_of(profile);

    for (uint32_t i = 0; i < profile->companion_count; i++) {
        const struct companion *companion = &profile->companions[i];
        const double *share = shares->of[companion->op][companion->kind];
        double all = 0, most = most_of(companion, &had);

        for (unsigned files = 0; files < FILES; files++)
            all += of >> files & 1 ? share[files] : 0;
        for (unsigned files = 0; files < FILES; files++)
            if (of >> files & 1)
                move(companion, files, most * share[files] / fmax(1, all), rest, part);
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

static double share_of(double part, double all, double otherwise)
{
    return all > 0 ? part / all : otherwise;
}

/* Of each operation the share that the part has of those that were found; of what none has, its share of all. */
static void take_share(const struct part *rest, const struct part *all, struct part *part)
{
    double had = part_ops(part), ops = had / part_ops(all), bytes = share_of(part_bytes(part), part_bytes(all), 0);
    double share[OP_COUNT];

    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        share[op] = share_of(part->ok[op], all->ok[op], ops);
        part->ok[op] += share[op] * rest->ok[op];
        part->failed[op] += share_of(part->failed[op], all->failed[op], share[op]) * rest->failed[op];
        part->bytes[op] += share_of(part->bytes[op], all->bytes[op], bytes) * rest->bytes[op];
    }
    part_add_sizes(part, rest, share[OP_READ], share[OP_WRITE]);
    part_keep_likeness(part, had);
    part->given = part_ops(part) - had;
}

void companions_take_little(const struct catalogue *catalogue, struct part *rest, struct part *parts)
{
    struct part all = {0};

    for (uint32_t p = 0; p < catalogue->count; p++)
        part_add(&all, &parts[p]);
    if (!(part_ops(&all) > 0) || !(part_ops(rest) < LITTLE * (part_ops(&all) + part_ops(rest))) ||
        part_bytes(rest) > LITTLE * (part_bytes(&all) + part_bytes(rest)))
        return;
    for (uint32_t p = 0; p < catalogue->count; p++)
        if (part_ops(&parts[p]) > 0)
            take_share(rest, &all, &parts[p]);
    *rest = (struct part){0};
}
