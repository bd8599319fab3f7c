/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/remaking.h"

#include <math.h>

#include "analyzer/figure.h"

#define REWORKED  0.75 /* of the bytes read: read by so many who write */
#define SAME      0.1  /* of the bytes: archives have headers */
#define BYTES_MIN (8u << 20)
#define FEW       0.2  /* files made to those opened */
#define COMMITS   0.5  /* fsyncs and renames of a file that is made: who saves makes sure of it */

static const struct part *part_of(const struct catalogue *catalogue, const struct part *before, const struct part *parts,
                                  const char *name)
{
    const struct profile *profile = name ? catalogue_find(catalogue, name) : NULL;
    size_t p = profile ? (size_t)(profile - catalogue->profiles) : 0;

    return profile && part_ops(&parts[p]) > 0 && !(before && part_ops(&before[p]) > 0) ? &parts[p] : NULL;
}

static bool are_same(double in, double out)
{
    return fabs(in - out) <= SAME * fmax(in, out);
}

bool remaking_keeps_bytes(const struct tally *tally)
{
    return are_same((double)tally->op[OP_READ].bytes, (double)tally->op[OP_WRITE].bytes);
}

static bool is_remade(const struct part *read, const struct part *written)
{
    double in = read->bytes[OP_READ], out = written->bytes[OP_WRITE];
    double commits = written->ok[OP_FSYNC] + written->ok[OP_RENAME];

    return fmin(in, out) >= BYTES_MIN && are_same(in, out) &&
           written->ok[OP_CREATE] <= fmax(1, FEW * read->ok[OP_OPEN]) && commits <= COMMITS * written->ok[OP_CREATE];
}

bool remaking_join(const struct catalogue *catalogue, const struct tally *tally, const struct part *before,
                   struct part *parts)
{
    bool joined = false;

    if (!(figure_reworked(tally) >= REWORKED))
        return false;
    for (uint32_t p = 0; p < catalogue->count; p++) {
        const struct profile *profile = &catalogue->profiles[p];
        const struct part *read = part_of(catalogue, before, parts, profile->reads);
        const struct part *written = part_of(catalogue, before, parts, profile->writes);

        if (!read || !written || read == written || !is_remade(read, written))
            continue;
        part_add(&parts[p], read);
        part_add(&parts[p], written);
        parts[read - parts] = parts[written - parts] = (struct part){0};
        joined = true;
    }
    return joined;
}
