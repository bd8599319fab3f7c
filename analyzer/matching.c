/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/matching.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXACT     0.98 /* of the reads and of the writes of a size: hardly by chance */
#define EXACT_MIN 20   /* of so many at least, */
#define LARGE     (1u << 20) /* or of several sizes from here on together: few of them move much */
#define NOTHING   1e-9 /* is what rounding leaves of a bin */

/* By size: operations, and how many of them match. */
struct sizes {
    double reads[BUCKET_COUNT], writes[BUCKET_COUNT], opens[BUCKET_COUNT]; /* reads and writes that may be copies' */
    double whole[BUCKET_COUNT];  /* reads that may be of a whole file */
    double copies[BUCKET_COUNT]; /* reads with as many writes, */
    double copied[BUCKET_COUNT]; /* and opens of files that may be read and written so at once */
    double files[BUCKET_COUNT];  /* other reads, of as much as there is in a file */
    double beyond[BUCKET_COUNT]; /* opens of files that have more than was copied, so that they were not */
    bool apart[BUCKET_COUNT];    /* reads and writes of it come at other times, and match nothing */
    double large;                /* pairs of sizes that are LARGE, and of which nearly all are pairs */
};

/* Who copies goes from the start to the end. */
static bool may_be_copied(const struct bin *bin)
{
    return bin->outcome == OUTCOME_OK && (bin->op == OP_READ || bin->op == OP_WRITE) && bin->order != JUMPS;
}

/* So does who reads a file at once, which then is as large as the read. */
static bool may_be_whole(const struct bin *bin)
{
    return bin->op == OP_READ && may_be_copied(bin) &&
           (!bin->files || bin->files >> file_size_class(bucket_lower(bin->bucket)) & 1);
}

static bool is_opened(const struct bin *bin)
{
    return bin->outcome == OUTCOME_OK && bin->op == OP_OPEN;
}

static void count_sizes(const struct bin *bins, size_t count, struct sizes *out)
{
    for (size_t i = 0; i < count; i++) {
        if (may_be_copied(&bins[i]))
            (bins[i].op == OP_READ ? out->reads : out->writes)[bins[i].bucket] += bins[i].ops;
        out->whole[bins[i].bucket] += may_be_whole(&bins[i]) ? bins[i].ops : 0;
        if (is_opened(&bins[i]))
            out->opens[bins[i].bucket] += bins[i].ops;
    }
}

static double share_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* A read of a file may be a little shorter than the file, as without its header. */
static void match_sizes(struct sizes *sizes)
{
    double opens[BUCKET_COUNT]; /* that nothing matches yet */

    for (unsigned bucket = 0; bucket < BUCKET_COUNT; bucket++) {
        if (!sizes->apart[bucket])
            sizes->copies[bucket] = fmin(sizes->reads[bucket], sizes->writes[bucket]);
        sizes->copied[bucket] = bucket ? fmin(sizes->copies[bucket], sizes->opens[bucket]) : 0;
        opens[bucket] = sizes->opens[bucket] - sizes->copied[bucket];
    }
    for (unsigned less = 0; less < 2; less++)
        for (unsigned bucket = 1; bucket + less < BUCKET_COUNT; bucket++) {
            double copied = share_of(sizes->copies[bucket], sizes->reads[bucket]);
            double left = sizes->whole[bucket] * (1 - copied) - sizes->files[bucket];
            double files = fmin(left, opens[bucket + less]);

            sizes->files[bucket] += files;
            opens[bucket + less] -= files;
        }
}

/* What was copied, but not at once, may be of some other files. */
static void find_beyond(struct sizes *sizes)
{
    double left = 0;

    for (unsigned bucket = 1; bucket < BUCKET_COUNT; bucket++)
        left += (sizes->copies[bucket] - sizes->copied[bucket]) * bucket_middle(bucket);
    for (unsigned bucket = 1; bucket < BUCKET_COUNT; bucket++)
        sizes->beyond[bucket] = fmax(0, sizes->opens[bucket] - sizes->copied[bucket] - left / bucket_middle(bucket));
}

/* How many operations of a bin match so. */
static double ops_of(const struct sizes *sizes, const struct bin *bin, enum match match)
{
    const double *all = bin->op == OP_READ ? sizes->reads : sizes->writes;
    unsigned bucket = bin->bucket;
    double of[MATCH_KINDS] = {0};

    if (is_opened(bin)) {
        of[MATCH_COPY] = bin->ops * share_of(sizes->copied[bucket], sizes->opens[bucket]);
        of[MATCH_BEYOND] = bin->ops * share_of(sizes->beyond[bucket], sizes->opens[bucket]);
    }
    if (may_be_copied(bin))
        of[MATCH_COPY] = bin->ops * share_of(sizes->copies[bucket], all[bucket]);
    if (may_be_whole(bin))
        of[MATCH_FILE] = bin->ops * share_of(sizes->files[bucket], sizes->whole[bucket]);
    of[MATCH_NONE] = bin->ops - of[MATCH_COPY] - of[MATCH_FILE] - of[MATCH_BEYOND];
    return of[match];
}

static bool nearly_all_match(const struct sizes *sizes, unsigned bucket)
{
    double reads = sizes->reads[bucket], writes = sizes->writes[bucket];

    return fmin(reads, writes) >= EXACT * fmax(reads, writes);
}

static void count_large(struct sizes *sizes)
{
    for (unsigned bucket = 1; bucket < BUCKET_COUNT; bucket++)
        if (bucket_lower(bucket) >= LARGE && nearly_all_match(sizes, bucket))
            sizes->large += sizes->copies[bucket];
}

static bool is_exact(const struct sizes *sizes, unsigned bucket)
{
    double pairs = bucket_lower(bucket) < LARGE ? sizes->copies[bucket] : fmax(sizes->copies[bucket], sizes->large);

    return nearly_all_match(sizes, bucket) && pairs >= EXACT_MIN;
}

/* Appends what of the bins matches so. */
static size_t take(const struct sizes *sizes, const struct bin *bins, size_t count, enum match match, struct bin *out)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        double ops = ops_of(sizes, &bins[i], match);

        if (!(ops > NOTHING * bins[i].ops))
            continue;
        out[n] = bins[i];
        out[n].match = match;
        out[n].twin = match == MATCH_COPY && !is_opened(&bins[i]) && is_exact(sizes, bins[i].bucket);
        out[n].ops = ops;
        out[n++].bytes *= ops / bins[i].ops;
    }
    return n;
}

int matching_split(struct bin **bins, size_t *count, const struct concert *concert)
{
    const struct bin *whole = *bins;
    struct bin *out = calloc(MATCH_KINDS * *count + 1, sizeof(*out));
    struct sizes sizes = {0};
    size_t n = 0;

    if (!out)
        return -ENOMEM;
    count_sizes(whole, *count, &sizes);
    for (unsigned bucket = 1; concert && bucket < BUCKET_COUNT; bucket++)
        sizes.apart[bucket] = concert_apart(concert, bucket);
    match_sizes(&sizes);
    count_large(&sizes);
    find_beyond(&sizes);
    for (size_t first = 0, end = 0; first < *count; first = end) {
        while (end < *count && whole[end].op == whole[first].op)
            end++;
        for (enum match match = 0; match < MATCH_KINDS; match++)
            n += take(&sizes, whole + first, end - first, match, out + n);
    }
    free(*bins);
    *bins = out;
    *count = n;
    return 0;
}
