/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/ordering.h"

#include <math.h>
#include <stdbool.h>

#define MODES      6     /* sizes that stand out, at most; all others are one more */
#define STANDS_OUT 4     /* times as many as of all sizes beside it but one, which may stand out, too */
#define BESIDE     2     /* buckets on either side */
#define MODE_MIN   0.005 /* of all reads, or of their bytes */
#define MISFIT_MAX 0.02  /* of all reads */
#define CLEARER    4     /* times as far from what was counted is what would have to be true otherwise */
#define READS_MIN  100

struct sizes {
    double reads[BUCKET_COUNT], bytes[BUCKET_COUNT];
    double all, all_bytes;
    double matched; /* reads that go on as they are a copy's or of a whole file */
};

struct modes {
    unsigned bucket[MODES];
    double weight[MODES], reads[MODES + 1]; /* the last: of all other sizes */
    unsigned count;
};

static bool is_read(const struct bin *bin)
{
    return bin->op == OP_READ && bin->outcome == OUTCOME_OK && bin->bucket && bin->match == MATCH_NONE;
}

static void count_sizes(const struct bin *bins, size_t count, struct sizes *out)
{
    for (size_t i = 0; i < count; i++)
        if (is_read(&bins[i])) {
            out->reads[bins[i].bucket] += bins[i].ops;
            out->bytes[bins[i].bucket] += bins[i].bytes;
            out->all += bins[i].ops;
            out->all_bytes += bins[i].bytes;
        } else if (bins[i].op == OP_READ && bins[i].match != MATCH_NONE) {
            out->matched += bins[i].ops;
        }
}

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

static void find_modes(const struct sizes *sizes, struct modes *out)
{
    double rest = sizes->all;

    for (unsigned b = 1; b < BUCKET_COUNT; b++) {
        double weight = fmax(sizes->reads[b] / sizes->all, sizes->bytes[b] / sizes->all_bytes);

        if (weight >= MODE_MIN && stands_out(sizes, b))
            add_mode(out, b, weight);
    }
    for (unsigned i = 0; i < out->count; i++) {
        out->reads[i] = sizes->reads[out->bucket[i]];
        rest -= out->reads[i];
    }
    out->reads[out->count] = rest;
}

/* How far what goes on is from what was counted, if it is the sizes of this set. */
static double misfit(const struct modes *modes, unsigned set, double goes_on, double unknown)
{
    double reads = 0;

    for (unsigned i = 0; i <= modes->count; i++)
        reads += set >> i & 1 ? modes->reads[i] : 0;
    return fmax(0, fmax(goes_on - reads, reads - goes_on - unknown));
}

/* least[i][on]: the least misfit with this mode among those that go on, or not. */
static double find_least(const struct modes *modes, double goes_on, double unknown, double least[MODES + 1][2])
{
    double best = INFINITY;

    for (unsigned i = 0; i <= modes->count; i++)
        least[i][0] = least[i][1] = INFINITY;
    for (unsigned set = 0; set < 1u << (modes->count + 1); set++) {
        double off = misfit(modes, set, goes_on, unknown);

        for (unsigned i = 0; i <= modes->count; i++)
            least[i][set >> i & 1] = fmin(least[i][set >> i & 1], off);
        best = fmin(best, off);
    }
    return best;
}

static enum order_known decide(const double least[2])
{
    if (least[0] > CLEARER * least[1] && least[0] > 1)
        return GOES_ON;
    if (least[1] > CLEARER * least[0] && least[1] > 1)
        return JUMPS;
    return NOT_KNOWN;
}

static unsigned mode_of(const struct modes *modes, unsigned bucket)
{
    unsigned i = 0;

    while (i < modes->count && modes->bucket[i] != bucket)
        i++;
    return i;
}

void ordering_note(const struct tally *tally, struct bin *bins, size_t count)
{
    const uint64_t *order = tally->op[OP_READ].order;
    double goes_on = (double)order[ORDER_CONSECUTIVE];
    double known = goes_on + (double)order[ORDER_SEQUENTIAL] + (double)order[ORDER_RANDOM];
    double least[MODES + 1][2], unknown;
    struct sizes sizes = {0};
    struct modes modes = {0};

    count_sizes(bins, count, &sizes);
    if (sizes.all < READS_MIN || known < READS_MIN)
        return;
    find_modes(&sizes, &modes);
    unknown = fmax(0, sizes.all + sizes.matched - known);
    goes_on = fmax(0, goes_on - sizes.matched);
    if (find_least(&modes, goes_on, unknown, least) > MISFIT_MAX * sizes.all)
        return;
    for (size_t i = 0; i < count; i++)
        if (is_read(&bins[i]))
            bins[i].order = decide(least[mode_of(&modes, bins[i].bucket)]);
}
