/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One among its like: how far a value stands above its peers', in median absolute deviations (scaled by 1.4826, so that
 * they are standard deviations where peers are normal; Rousseeuw and Croux 1993). The deviation never counts for less
 * than a share of the median or an amount, or peers that are all the same would make anything stand out.
 */
#ifndef UNBLEND_ANALYZER_PEER_H
#define UNBLEND_ANALYZER_PEER_H

#include "lib/record.h"

struct peer_norm {
    double median, mad; /* mad: scaled */
    double high;        /* the largest value */
};

/* Of at least one value; leaves how far each is from the median in their place, the furthest last. */
void peer_norm_of(double *values, uint32_t count, double relative, double absolute, struct peer_norm *out);

/* What is the same on several nodes: a shared volume, or, of each node, its own one of the same file system and source.
   The name of that one begins with the node's, and ends with what no other node has where it has a UUID. */
struct peer_place {
    const char *fstype, *source, *point; /* or the first is the name, without the node's, and the others are "" */
};

/* Of a volume on that node; points into what it is given, of which all but the name may be NULL. */
struct peer_place peer_place_of(const struct volume *volume, const char *node);
bool peer_same_place(const struct peer_place *a, const struct peer_place *b);

/* Negative below the median. */
double peer_mads(const struct peer_norm *norm, double value);

#endif
