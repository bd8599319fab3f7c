/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/blended.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/figure.h"
#include "analyzer/mixture.h"
#include "analyzer/remaking.h"
#include "lib/cleanup.h"

#define LARGE_OPS    0.1   /* of the operations: more than a library does beside */
#define LARGE_BYTES  0.2   /* of the bytes, of who has */
#define SOME_OPS     0.005 /* of the operations */
#define LEAST_NAMES  0.05  /* of the operations are lookups of names, where some walk */
#define LEAST_OPENS  0.005 /* are opens, where some open a file after the other */
#define LEAST_JUMPS  0.02  /* of the reads jump, where some pick records; or go on, where some stream */
#define UNKNOWN_MAX  0.15  /* of operations and bytes, where it is said of what is left that it is a blend */
#define OTHER_SIZES  1.5   /* bytes of an operation: times those of another's that is no chance */

/* Whether a tally has enough of what goes with a kind of reading for that to be a large part: whoever does it does so, and
   what is not known may be enough. */
static unsigned possible(const struct tally *tally)
{
    const struct record *read = &tally->op[OP_READ], *stat = &tally->op[OP_STAT];
    const struct histogram *opened = &tally->op[OP_OPEN].size;
    double ops = (double)tally_file_ops(tally), jumps = figure_jumps(read), files = 0, large = 0;
    double names = (double)tally_ops(tally, OP_STAT) + (double)tally_ops(tally, OP_READDIR) +
                   (double)tally_ops(tally, OP_UNLINK) - (double)stat->order[ORDER_OF_OPEN];
    unsigned work = names >= LEAST_NAMES * ops ? WORK_NAMES : 0;

    for (unsigned i = 0; i < opened->length; i++)
        files += bucket_lower(opened->cells[i].bucket) < FILE_LARGE_MIN ? (double)opened->cells[i].count : 0;
    large = (double)read->file_size[FILE_LARGE] + (double)histogram_filled(&read->size) - (double)figure_sized(read);
    if (!opened->length || files >= LEAST_OPENS * ops)
        work |= WORK_FILES;
    if (large >= SOME_OPS * ops && !(jumps < LEAST_JUMPS))
        work |= WORK_RECORDS;
    if (large >= SOME_OPS * ops && !(jumps > 1 - LEAST_JUMPS))
        work |= WORK_STREAMS;
    return work;
}

/* Parts of a tally, as shares of its operations and bytes. */
struct shares {
    const struct catalogue *catalogue;
    const struct part *parts;
    double ops, bytes;
};

static double share_of_ops(const struct shares *shares, uint32_t profile)
{
    return part_ops(&shares->parts[profile]) / shares->ops;
}

static double share_of_bytes(const struct shares *shares, uint32_t profile)
{
    return shares->bytes > 0 ? part_bytes(&shares->parts[profile]) / shares->bytes : 0;
}

static bool is_large(const struct shares *shares, uint32_t profile)
{
    double ops = share_of_ops(shares, profile);

    return ops >= LARGE_OPS || (ops >= SOME_OPS && share_of_bytes(shares, profile) >= LARGE_BYTES);
}

/* Two parts that differ in what an operation moves: one program reads on, and jumps, by the same sizes. */
static bool are_apart(const struct shares *shares, uint32_t a, uint32_t b)
{
    double x = share_of_bytes(shares, a) / share_of_ops(shares, a), y = share_of_bytes(shares, b) / share_of_ops(shares, b);

    return !(fmax(x, y) < OTHER_SIZES * fmin(x, y));
}

/* A second large part beside that one, of other work, or, of who serves, of another profile. */
static bool has_another(const struct shares *shares, uint32_t p, bool serves)
{
    const struct profile *profiles = shares->catalogue->profiles;

    for (uint32_t q = 0; q < shares->catalogue->count; q++)
        if (q != p && profiles[q].work && (serves || profiles[q].work != profiles[p].work) && is_large(shares, q) &&
            are_apart(shares, p, q))
            return true;
    return false;
}

/* Work that a process does which is named so; who reads and writes does both by one name. */
static unsigned expected(const struct shares *shares, const struct profile *read, const struct profile *written)
{
    unsigned work = (read ? read->work : 0) | (written ? written->work : 0);
    double most = 0;
    unsigned reads = 0;

    if (!(read && read->alone))
        return work;
    for (uint32_t p = 0; p < shares->catalogue->count; p++)
        if (!(shares->catalogue->profiles[p].work & WORK_WRITES) && share_of_ops(shares, p) > most) {
            most = share_of_ops(shares, p);
            reads = shares->catalogue->profiles[p].work;
        }
    return work | WORK_WRITES | reads;
}

static bool are_several(const struct shares *shares, bool serves, const struct profile *read,
                        const struct profile *written)
{
    unsigned known = expected(shares, read, written);
    uint32_t count = shares->catalogue->count;

    if (share_of_ops(shares, count) > UNKNOWN_MAX || share_of_bytes(shares, count) > UNKNOWN_MAX)
        return false;
    for (uint32_t p = 0; p < count; p++) {
        const struct profile *profile = &shares->catalogue->profiles[p];
        bool named = serves ? profile == read || profile == written || (profile->work & known & WORK_WRITES)
                            : profile->work & known;

        if (profile->work && !named && is_large(shares, p) && has_another(shares, p, serves))
            return true;
    }
    return false;
}

int blended(const struct catalogue *catalogue, const struct tally *tally, bool serves, const struct profile *read,
            const struct profile *written)
{
    unsigned more = possible(tally) & ~((read ? read->work : 0) | (written ? written->work : 0));
    _cleanup_free_ struct part *parts = NULL;
    struct shares shares = {.catalogue = catalogue,
                            .ops = (double)tally_file_ops(tally),
                            .bytes = (double)tally_file_bytes(tally)};
    int err;

    if (read && read->alone) /* sums tear apart who reads and writes what he has read */
        serves &= read->reads && !remaking_keeps_bytes(tally);
    /* What a start or a mapping is beside is not told, and who reads and writes does one of them anyway. */
    if ((read && !read->work && !read->alone) || !(serves || (read && read->alone ? more & (more - 1) : more)))
        return 0;
    shares.parts = parts = calloc(catalogue->count + 1, sizeof(*parts));
    err = parts ? mixture_add(catalogue, tally, NULL, NULL, parts, NULL) : -ENOMEM;
    return err ? err : are_several(&shares, serves, read, written);
}
