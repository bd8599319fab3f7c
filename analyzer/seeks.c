/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/seeks.h"

#include <math.h>

#define AS_MANY 0.01 /* of the transfers: files that are opened are sought in once more */
#define BOTH    0.02 /* of the transfers are reads, and are writes: by reading alone programs come to as many, too */
#define SOME    500  /* transfers; fewer are as many by chance */

bool seeks_go_with_transfers(const struct tally *tally)
{
    double seeks = (double)tally_ops(tally, OP_SEEK);
    double reads = (double)tally_ops(tally, OP_READ), writes = (double)tally_ops(tally, OP_WRITE);

    return reads + writes >= SOME && fabs(seeks - reads - writes) <= AS_MANY * (reads + writes) &&
           fmin(reads, writes) >= BOTH * (reads + writes);
}

struct tally seeks_left_out(const struct tally *tally)
{
    struct tally left = *tally;

    left.op[OP_SEEK] = (struct record){.op = OP_SEEK};
    return left;
}

static double transfers_of(const struct part *part)
{
    return part->ok[OP_READ] + part->failed[OP_READ] + part->ok[OP_WRITE] + part->failed[OP_WRITE];
}

static double transfers_since(const struct part *before, const struct part *parts, uint32_t p)
{
    return transfers_of(&parts[p]) - (before ? transfers_of(&before[p]) : 0);
}

void seeks_add(const struct tally *tally, const struct part *before, struct part *parts, uint32_t count)
{
    double seeks = (double)tally_succeeded(tally, OP_SEEK), failed = (double)tally_ops(tally, OP_SEEK) - seeks;
    double transfers = 0;

    for (uint32_t p = 0; p < count; p++)
        transfers += transfers_since(before, parts, p);
    for (uint32_t p = 0; transfers > 0 && p < count; p++) {
        double share = transfers_since(before, parts, p) / transfers;

        parts[p].ok[OP_SEEK] += seeks * share;
        parts[p].failed[OP_SEEK] += failed * share;
    }
}
