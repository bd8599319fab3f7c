/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A histogram of sizes as a few mixtures that fio can draw from: shares are whole per cents there, at most 64 of them,
 * and drawn by chance. A mixture has its exact number of operations, and the sizes at the quantiles 0.5, 0.95 and 0.99
 * are in mixtures of their own: so chance cannot move a quantile, and the bytes come out within a few in a thousand.
 */
#ifndef UNBLEND_ANALYZER_EXPORT_SIZES_H
#define UNBLEND_ANALYZER_EXPORT_SIZES_H

#include <stdint.h>

#include "lib/histogram.h"

#define SIZES_SPLITS 64 /* fio's limit */

struct size_share {
    uint64_t bytes;
    unsigned percent;
};

struct size_mix {
    uint64_t ops;
    unsigned count;
    struct size_share shares[SIZES_SPLITS]; /* the percents add up to 100 */
};

struct size_mixes {
    struct size_mix *list;
    uint32_t count, capacity;
};

/* bytes: what the values that are not 0 sum up to; sizes are multiples of align. 0 or -ENOMEM. */
int sizes_of(const struct histogram *sizes, uint64_t bytes, uint64_t align, struct size_mixes *out);
void sizes_clear(struct size_mixes *mixes);

/* The largest one of a mixture. */
uint64_t size_mix_max(const struct size_mix *mix);

#endif
