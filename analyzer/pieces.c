/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/pieces.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/evidence.h"
#include "analyzer/human.h"
#include "analyzer/part.h"
#include "lib/bucket.h"

#define MENTION_MIN 0.05 /* of the bytes: less in larger pieces is not worth a word */
#define MOSTLY      0.5
#define EXACT       0.02 /* of a bucket: nearer to its lower bound is at it */
#define ALIKE       0.001 /* bytes */
#define BLOCK_MIN   512
#define SENTENCE    (HUMAN_SIZE + 64)

/* Where in their buckets transfers are taken to be: from the lower bounds, 0, to the upper ones, 1. */
struct heights {
    double others, blocks; /* the latter of buckets that begin at a power of two */
    double largest;        /* bytes: at least one transfer has so many */
};

static bool holds_blocks(unsigned bucket)
{
    return bucket_lower(bucket) >= BLOCK_MIN && (bucket_lower(bucket) & (bucket_lower(bucket) - 1)) == 0;
}

static double height_of(double bytes, double widths)
{
    return widths > 0 ? fmin(fmax(bytes / widths, 0), 1) : 0;
}

/* Of transfers of which all have so many bytes. Blocks of whole powers of two, as most are, are all the way down, as far
   as the others can have the rest. */
static struct heights heights_of(const double sizes[BUCKET_COUNT], double bytes)
{
    double rest = bytes, others = 0, blocks = 0, top = 0;
    struct heights heights;
    unsigned last = 0;

    for (unsigned bucket = 1; bucket < BUCKET_COUNT; bucket++) {
        if (!(sizes[bucket] > 0))
            continue;
        last = bucket;
        top = sizes[bucket] * bucket_width(bucket);
        *(holds_blocks(bucket) ? &blocks : &others) += top;
        rest -= sizes[bucket] * (double)bucket_lower(bucket);
    }
    heights.others = height_of(rest, others);
    heights.blocks = height_of(rest - heights.others * others, blocks);
    heights.largest = (double)bucket_lower(last) + height_of(rest - (others + blocks - top), top) * bucket_width(last);
    heights.others = heights.others < EXACT ? 0 : heights.others;
    heights.blocks = heights.blocks < EXACT ? 0 : heights.blocks;
    return heights;
}

static double height_in(unsigned bucket, const struct heights *heights)
{
    return holds_blocks(bucket) ? heights->blocks : heights->others;
}

/* What a bucket holds is taken to be alike. */
static double size_in(unsigned bucket, const struct heights *heights)
{
    return fmin((double)bucket_lower(bucket) + height_in(bucket, heights) * bucket_width(bucket), heights->largest);
}

/* The size that is at that place among those that are sorted. */
static double size_at(const double sizes[BUCKET_COUNT], double q, const struct heights *heights)
{
    return size_in(bucket_of(part_quantile(sizes, q)), heights);
}

/* Of all bytes, those in pieces from a bucket on. */
static double bytes_from(const double sizes[BUCKET_COUNT], unsigned from, const struct heights *heights)
{
    double bytes = 0;

    for (unsigned bucket = from; bucket < BUCKET_COUNT; bucket++)
        bytes += sizes[bucket] * size_in(bucket, heights);
    return bytes;
}

/* ", 99 % of the bytes in larger ones of about 8 MiB": few pieces may move what all others do not. text: SENTENCE bytes. */
static const char *larger_ones(char *text, const double sizes[BUCKET_COUNT], const struct heights *heights,
                               double mean)
{
    unsigned above = bucket_of(part_quantile(sizes, 0.95)) + 1, bucket = above;
    double beyond = bytes_from(sizes, above, heights), share = beyond / bytes_from(sizes, 1, heights);
    char size[HUMAN_SIZE];

    *text = '\0';
    if (!(share >= MENTION_MIN) || (share < MOSTLY && mean <= (double)bucket_lower(above)))
        return text;
    while (bucket + 1 < BUCKET_COUNT && bytes_from(sizes, bucket + 1, heights) >= beyond / 2)
        bucket++;
    snprintf(text, SENTENCE, ", %.0f %% of the bytes in larger ones of about %s", floor(100 * share),
             human_bytes(size, size_in(bucket, heights)));
    return text;
}

/* Whether one of the sizes that are told is not its bucket's lower bound. */
static bool is_about(const double sizes[BUCKET_COUNT], const struct heights *heights)
{
    return height_in(bucket_of(part_quantile(sizes, 0.05)), heights) > 0 ||
           height_in(bucket_of(part_quantile(sizes, 0.5)), heights) > 0 ||
           height_in(bucket_of(part_quantile(sizes, 0.95)), heights) > 0;
}

int pieces_mention(const char *what, double transfers, const double sizes[BUCKET_COUNT], double bytes,
                   struct profile_share *share)
{
    char count[HUMAN_SIZE], low[HUMAN_SIZE], middle[HUMAN_SIZE], high[HUMAN_SIZE], sum[HUMAN_SIZE], larger[SENTENCE];
    double moved = transfers - sizes[0], mean = bytes / moved;
    struct heights heights = heights_of(sizes, bytes);
    const char *about = is_about(sizes, &heights) ? "about " : "";

    if (moved < 0.5)
        return 0;
    human_count(count, (uint64_t)llround(moved));
    human_bytes(low, size_at(sizes, 0.05, &heights));
    human_bytes(middle, size_at(sizes, 0.5, &heights));
    human_bytes(high, size_at(sizes, 0.95, &heights));
    human_bytes(sum, bytes);
    larger_ones(larger, sizes, &heights, mean);
    if (llround(moved) == 1)
        return evidence_add(share, "1 %s moves %s", what, sum);
    if (strcmp(low, high) == 0 && fabs(size_at(sizes, 0.5, &heights) - mean) < ALIKE && fabs(mean - round(mean)) < ALIKE)
        about = ""; /* nearly always all of one size */
    if (strcmp(low, high) == 0)
        return evidence_add(share, "%s %ss move %s in pieces of %s%s%s", count, what, sum, about, middle, larger);
    return evidence_add(share, "%s %ss move %s in pieces of %s%s to %s, %s in the middle%s", count, what,
                        sum, about, low, high, middle, larger);
}
