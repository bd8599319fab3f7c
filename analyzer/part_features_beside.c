/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a part does beside what the whole, or other parts, do. */
#include <math.h>

#include "analyzer/part_features.h"

#define WALK_NAMES 40  /* stats a readdir, */
#define WALK_STATS 3   /* and a file that is opened */
#define LINE       512 /* bytes */
#define FAILED_FEW 0.2 /* of its operations: opens that fail are held against no fewer, */
#define MADE_FEW   0.33 /* and files that are made against no fewer than so many */
#define GLIBC_READ 832 /* bytes of a library that its loader reads first: glibc's open_verify() (elf/dl-load.c), */
#define MUSL_READ  960 /* and musl's map_library() (ldso/dynlink.c), on 64 bits */
#define BOTH_MIN   0.5 /* bytes written to bytes read, or the reverse, of who does both */

/* How much of its reads cannot be of samples, were all of these read once. */
static double beyond_samples(const struct feature_context *c)
{
    return isnan(c->samples) ? INFINITY : quotient(c->whole->bytes[OP_READ] - c->samples, c->part->bytes[OP_READ]);
}

/* What the whole has of these, but for what other profiles have. */
static double left(double (*of)(const struct part *part), const struct feature_context *c)
{
    double all = of(c->whole);

    for (uint32_t p = 0; p < c->profiles; p++)
        all -= p != c->profile ? of(&c->at[p]) : 0;
    return fmax(0, all);
}

/* Opens that failed and that others do not have, to these and so many that did not. */
static double failed_beside(double opens, const struct feature_context *c)
{
    double failed = left(failed_opens, c);

    return quotient(failed, failed + opens);
}

static double left_open_errors(const struct feature_context *c)
{
    return failed_beside(part_opens(c->whole), c);
}

/* Who does much more than open files may do that beside who fails to. */
static double left_failed_opens(const struct feature_context *c)
{
    return failed_beside(fmax(part_opens(c->whole), part_ops(c->part) * FAILED_FEW), c);
}

/*
 * Whether stats are a walk's: it looks at what it has listed, some forty names a readdir at most in folders of common
 * size, or at many more names than files are opened. Below 1 neither is the case.
 */
static double walk(const struct feature_context *c)
{
    double files = fmax(0, c->whole->ok[OP_OPEN] - c->whole->ok[OP_READDIR] / READDIRS);
    double stats = c->part->ok[OP_STAT];

    return stats > 0 ? fmax(quotient(c->part->ok[OP_READDIR] * WALK_NAMES, stats), stats / (files * WALK_STATS)) : INFINITY;
}

/* Stats for each write of a line at most: who logs may look at its file each time. */
static double stats_per_line(const struct feature_context *c)
{
    double lines = 0;

    for (unsigned i = 1; i < BUCKET_COUNT && bucket_lower(i) < LINE; i++)
        lines += c->whole->write[i];
    return lines > 0 ? c->part->ok[OP_STAT] / lines : INFINITY;
}

/* Libraries that the whole loaded, for each file that is opened: programs that begin map them, and read nothing else of them. */
static double libraries_per_open(const struct feature_context *c)
{
    double loaded = c->whole->read[bucket_of(GLIBC_READ)] + c->whole->read[bucket_of(MUSL_READ)];

    return quotient(loaded, part_opens(c->part));
}

/* With what a part reads: a database reads little between two of them, whatever is read beside it. */
static double bytes_per_fsync(const struct feature_context *c)
{
    return to_each_fsync(c->whole->bytes[OP_WRITE] + c->part->bytes[OP_READ], c->whole);
}

/* Near 1 where as much is written as read, as who copies and who packs does; but for what others have who do. */
static double copied(const struct feature_context *c)
{
    double read = c->whole->bytes[OP_READ] + c->whole->bytes[OP_MMAP_FAULT], written = c->whole->bytes[OP_WRITE];

    for (uint32_t p = 0; p < c->profiles; p++) {
        double in = c->at[p].bytes[OP_READ], out = c->at[p].bytes[OP_WRITE];

        if (p == c->profile || !(fmin(in, out) > BOTH_MIN * fmax(in, out)))
            continue;
        read -= in;
        written -= out;
    }
    return quotient(fmax(0, fmin(read, written)), fmax(read, written));
}

static double creates(const struct part *part)
{
    return part->ok[OP_CREATE];
}

/* What it writes, to each file that is made, but for those that others have made; what is there already may be written over. */
static double bytes_per_create(const struct feature_context *c)
{
    double made = left(creates, c);

    return made >= 0.5 ? c->part->bytes[OP_WRITE] / made : INFINITY;
}

/* Files made, to those opened or to folders listed, or to so many where these are more. */
static double made_beside(double others, const struct feature_context *c)
{
    double opens = fmax(c->whole->ok[OP_OPEN], c->part->ok[OP_READDIR]);

    return quotient(c->whole->ok[OP_CREATE], fmax(opens, others));
}

static double whole_creates_per_open(const struct feature_context *c)
{
    return made_beside(0, c);
}

/* Who does much more than make files may do that beside who makes them. */
static double whole_made(const struct feature_context *c)
{
    return made_beside(part_ops(c->part) * MADE_FEW, c);
}

const struct part_feature features_beside[] = {
    {"beyond_samples", beyond_samples},
    {"bytes_per_fsync", bytes_per_fsync},
    {"bytes_per_create", bytes_per_create},
    {"copied", copied},
    {"walk", walk},
    {"stats_per_line", stats_per_line},
    {"libraries_per_open", libraries_per_open},
    {"left.open_errors", left_open_errors},
    {"left.failed_opens", left_failed_opens},
    {"whole.creates_per_open", whole_creates_per_open},
    {"whole.made", whole_made},
    {NULL, NULL},
};
