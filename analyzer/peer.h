/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One among its like: how far a value stands above its peers', in median absolute deviations (scaled by 1.4826, so that
 * they are standard deviations where peers are normal; Rousseeuw and Croux 1993). The deviation never counts for less
 * than a share of the median or an amount, or peers that are all the same would make anything stand out.
 */
#ifndef UNBLEND_ANALYZER_PEER_H
#define UNBLEND_ANALYZER_PEER_H

#include <stdint.h>

struct peer_norm {
    double median, mad; /* mad: scaled */
    double high;        /* the largest value */
};

/* Of at least one value; leaves how far each is from the median in their place, the furthest last. */
void peer_norm_of(double *values, uint32_t count, double relative, double absolute, struct peer_norm *out);

/* A volume's name without its node's, where it begins with that: "n1:ext4:/dev/sda" of n1 is what "n2:ext4:/dev/sda" is
   of n2. A part of the name that is given. */
const char *peer_volume(const char *volume, const char *node);

/* Negative below the median. */
double peer_mads(const struct peer_norm *norm, double value);

#endif
