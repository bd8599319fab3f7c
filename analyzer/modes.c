/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/modes.h"

#include <math.h>

#define STANDS_OUT 4     /* times as many as of all sizes beside it but one, which may stand out, too */
#define BESIDE     2     /* buckets on either side */
#define MODE_MIN   0.005 /* of all reads, or of their bytes */
#define CLEARER    4     /* times as far from what was counted is what would have to be true otherwise */

struct sizes {
    double reads[BUCKET_COUNT], bytes[BUCKET_COUNT];
    double all, all_bytes;
};

static bool stands_out(const struct sizes *sizes, unsigned bucket)
{
    double most = 0, second = 0;

    for (unsigned b = bucket > BESIDE ? bucket - BESIDE : 1; b <= bucket + BESIDE && b < BUCKET_COUNT; b++) {
        double reads = b == bucket ? 0 : sizes->reads[b];

        second = fmax(second, fmin(most, reads));
        most = fmax(most, reads);
    }
    return sizes->reads[bucket] >= STANDS_OUT * second;
}

/* Keeps those with the most reads or bytes, in this order. */
static void add_mode(struct modes *modes, unsigned bucket, double weight)
{
    unsigned at = modes->count < MODES ? modes->count++ : MODES;

    for (; at && modes->weight[at - 1] < weight; at--)
        if (at < MODES) {
            modes->bucket[at] = modes->bucket[at - 1];
            modes->weight[at] = modes->weight[at - 1];
        }
    if (at < MODES) {
        modes->bucket[at] = bucket;
        modes->weight[at] = weight;
    }
}

void modes_find(const struct bin *bins, size_t count, bool (*takes_part)(const struct bin *bin), struct modes *out)
{
    struct sizes sizes = {0};
    double rest;

    *out = (struct modes){0};
    for (size_t i = 0; i < count; i++)
        if (takes_part(&bins[i])) {
            sizes.reads[bins[i].bucket] += bins[i].ops;
            sizes.bytes[bins[i].bucket] += bins[i].bytes;
            sizes.all += bins[i].ops;
            sizes.all_bytes += bins[i].bytes;
        }
    rest = out->all = sizes.all;
    for (unsigned b = 1; b < BUCKET_COUNT; b++) {
        double weight = fmax(sizes.reads[b] / sizes.all, sizes.bytes[b] / sizes.all_bytes);

        if (weight >= MODE_MIN && stands_out(&sizes, b))
            add_mode(out, b, weight);
    }
    for (unsigned i = 0; i < out->count; i++) {
        out->reads[i] = sizes.reads[out->bucket[i]];
        rest -= out->reads[i];
    }
    out->reads[out->count] = rest;
}

unsigned modes_of(const struct modes *modes, unsigned bucket)
{
    unsigned i = 0;

    while (i < modes->count && modes->bucket[i] != bucket)
        i++;
    return i;
}

bool modes_is_unlikely(double misfit, double least)
{
    return misfit > CLEARER * least && misfit > 1;
}
