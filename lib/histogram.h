/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sparse histogram over the buckets of lib/bucket.h: cells sorted by bucket, none of them empty.
 * Adding and merging are exact; nothing is interpolated. A zeroed struct is an empty histogram.
 * The struct owns its cells; histogram_clear() gives them back. Not thread safe.
 */
#ifndef UNBLEND_LIB_HISTOGRAM_H
#define UNBLEND_LIB_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct histogram_cell {
    uint64_t count; /* never 0 */
    uint16_t bucket;
};

struct histogram {
    struct histogram_cell *cells;
    uint16_t length;
    uint16_t capacity;
};

void histogram_clear(struct histogram *h);

/* Adds count values of a bucket. 0 or -ENOMEM, -EINVAL for a bucket that does not exist, -ERANGE if the
   count would pass 2^63 - 1 (what JSON integers and PostgreSQL's bigint hold); unchanged on failure. */
int histogram_add_bucket(struct histogram *h, unsigned bucket, uint64_t count);

/* The same of one with more buckets than lib/bucket.h has, as lib/joint.h. */
int histogram_add_below(struct histogram *h, unsigned buckets, unsigned bucket, uint64_t count);

static inline int histogram_add(struct histogram *h, uint64_t value, uint64_t count);

/* Room for so many cells and no more: for one that does not grow any further. 0 or -ENOMEM. */
int histogram_reserve(struct histogram *h, unsigned cells);

/* Adds all of other. 0, -ENOMEM or -ERANGE; on failure h is unchanged. */
int histogram_merge(struct histogram *h, const struct histogram *other);

/* The same in two steps, of which the second cannot fail: for whoever adds several or none of them. 0, -ENOMEM or
   -ERANGE. */
int histogram_prepare(struct histogram *h, const struct histogram *other);
void histogram_merge_prepared(struct histogram *h, const struct histogram *other);

/* How many values lie in it (2^63 - 1 if more), how many of them are 0, and how many are not. */
uint64_t histogram_count(const struct histogram *h);
uint64_t histogram_zeros(const struct histogram *h);
uint64_t histogram_filled(const struct histogram *h);

/* How many lie in one of its buckets. */
uint64_t histogram_at(const struct histogram *h, unsigned bucket);

/*
 * Nearest-rank quantile (the smallest value with at least q of the values at or below it), as the lower
 * bound of its bucket. q in [0, 1]. With skip_zeros the values that are 0 do not take part. False when
 * there is nothing to rank; *value is written only on success.
 */
bool histogram_quantile(const struct histogram *h, double q, bool skip_zeros, uint64_t *value);

/* The last value of the highest bucket in use; false when empty. */
bool histogram_max(const struct histogram *h, uint64_t *value);

bool histogram_equal(const struct histogram *a, const struct histogram *b);

#include "lib/bucket.h"

static inline int histogram_add(struct histogram *h, uint64_t value, uint64_t count)
{
    return histogram_add_bucket(h, bucket_of(value), count);
}

#endif
