/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/blended.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/mixture.h"
#include "lib/cleanup.h"

#define LARGE_OPS    0.1   /* of the operations: more than a library does beside */
#define LARGE_BYTES  0.2   /* of the bytes, of who has */
#define SOME_OPS     0.005 /* of the operations */
#define UNKNOWN_MAX  0.15  /* of operations and bytes, where it is said of what is left that it is a blend */
#define OTHER_SIZES  1.5   /* bytes of an operation: times those of another's that is no chance */

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

/* Two kinds of work that differ in what an operation moves, too: one program reads on, and jumps, by the same sizes. */
static bool are_apart(const struct shares *shares, uint32_t a, uint32_t b)
{
    double x = share_of_bytes(shares, a) / share_of_ops(shares, a), y = share_of_bytes(shares, b) / share_of_ops(shares, b);

    return shares->catalogue->profiles[a].work != shares->catalogue->profiles[b].work &&
           !(fmax(x, y) < OTHER_SIZES * fmin(x, y));
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

static bool are_several(const struct shares *shares, const struct profile *read, const struct profile *written)
{
    unsigned known = expected(shares, read, written);
    uint32_t count = shares->catalogue->count;

    if (share_of_ops(shares, count) > UNKNOWN_MAX || share_of_bytes(shares, count) > UNKNOWN_MAX)
        return false;
    for (uint32_t p = 0; p < count; p++) {
        unsigned work = shares->catalogue->profiles[p].work;

        for (uint32_t q = 0; work && !(work & known) && is_large(shares, p) && q < count; q++)
            if (shares->catalogue->profiles[q].work && is_large(shares, q) && are_apart(shares, p, q))
                return true;
    }
    return false;
}

int blended(const struct catalogue *catalogue, const struct tally *tally, const struct profile *read,
            const struct profile *written)
{
    _cleanup_free_ struct part *parts = calloc(catalogue->count + 1, sizeof(*parts));
    struct shares shares = {.catalogue = catalogue,
                            .parts = parts,
                            .ops = (double)tally_file_ops(tally),
                            .bytes = (double)tally_file_bytes(tally)};
    int err = parts ? mixture_add(catalogue, tally, NULL, false, 0, parts, NULL) : -ENOMEM;

    return err ? err : are_several(&shares, read, written);
}
