/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of features by name, and what they share. */
#ifndef UNBLEND_ANALYZER_PART_FEATURES_H
#define UNBLEND_ANALYZER_PART_FEATURES_H

#include <math.h>

#include "analyzer/figure.h"
#include "analyzer/part_feature.h"

struct part_feature {
    const char *name; /* NULL: behind the last */
    double (*value)(const struct feature_context *context);
};

extern const struct part_feature features_of_part[], features_of_whole[], features_beside[];

/* Opens that failed, with those that would have made the file. */
static inline double failed_opens(const struct part *part)
{
    return part->failed[OP_OPEN] + part->failed[OP_CREATE];
}

static inline double open_error_share(const struct part *part)
{
    return quotient(failed_opens(part), failed_opens(part) + part_opens(part));
}

static inline double stat_error_share(const struct part *part)
{
    return quotient(part->failed[OP_STAT], part->failed[OP_STAT] + part->ok[OP_STAT]);
}

/* Bytes to each fsync of the whole: a database forces its log to disk after a few KB; where there is none, there is no end to
   them. */
static inline double to_each_fsync(double bytes, const struct part *whole)
{
    return whole->ok[OP_FSYNC] > 0 ? bytes / whole->ok[OP_FSYNC] : INFINITY;
}

#endif
