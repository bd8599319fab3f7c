/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/histogram.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void histogram_clear(struct histogram *h)
{
    free(h->cells);
    *h = (struct histogram){0};
}

static int reserve(struct histogram *h, unsigned cells)
{
    unsigned capacity = h->capacity ? h->capacity : 4;
    struct histogram_cell *grown;

    if (cells <= h->capacity)
        return 0;
    while (capacity < cells)
        capacity *= 2;
    grown = reallocarray(h->cells, capacity, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    h->cells = grown;
    h->capacity = (uint16_t)capacity;
    return 0;
}

int histogram_reserve(struct histogram *h, unsigned cells)
{
    struct histogram_cell *grown;

    if (cells <= h->capacity)
        return 0;
    grown = reallocarray(h->cells, cells, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    h->cells = grown;
    h->capacity = (uint16_t)cells;
    return 0;
}

/* Index of the first cell whose bucket is not below the one asked for. */
static unsigned find(const struct histogram *h, unsigned bucket)
{
    unsigned low = 0, high = h->length;

    /* Values mostly arrive in ascending order when decoding: look at the end first. */
    if (high && h->cells[high - 1].bucket < bucket)
        return high;
    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (h->cells[middle].bucket < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int histogram_add_bucket(struct histogram *h, unsigned bucket, uint64_t count)
{
    return histogram_add_below(h, BUCKET_COUNT, bucket, count);
}

int histogram_add_below(struct histogram *h, unsigned buckets, unsigned bucket, uint64_t count)
{
    unsigned at;
    int err;

    if (bucket >= buckets)
        return -EINVAL;
    if (count > INT64_MAX)
        return -ERANGE;
    if (!count)
        return 0;
    at = find(h, bucket);
    if (at < h->length && h->cells[at].bucket == bucket) {
        if (h->cells[at].count > INT64_MAX - count)
            return -ERANGE;
        h->cells[at].count += count;
        return 0;
    }
    err = reserve(h, h->length + 1u);
    if (err)
        return err;
    memmove(&h->cells[at + 1], &h->cells[at], (h->length - at) * sizeof(*h->cells));
    h->cells[at] = (struct histogram_cell){.count = count, .bucket = (uint16_t)bucket};
    h->length++;
    return 0;
}

/* Index of the first cell at `at` or behind whose bucket is not below the one asked for. Cells are sorted and differ, so
   it is at most as many places behind as its bucket is higher: where none is missing in between, just there. */
static unsigned find_behind(const struct histogram *h, unsigned at, unsigned bucket)
{
    unsigned most;

    if (at == h->length || h->cells[at].bucket >= bucket)
        return at;
    most = at + bucket - h->cells[at].bucket;
    if (most > h->length)
        most = h->length;
    if (most < h->length && h->cells[most].bucket == bucket)
        return most;
    while (++at < most && h->cells[at].bucket < bucket)
        ;
    return at;
}

/* Both are sorted: they are walked side by side. */
int histogram_prepare(struct histogram *h, const struct histogram *other)
{
    unsigned extra = 0, at = 0;

    for (unsigned i = 0; i < other->length; i++) {
        at = find_behind(h, at, other->cells[i].bucket);
        if (at == h->length || h->cells[at].bucket != other->cells[i].bucket)
            extra++;
        else if (h->cells[at].count > INT64_MAX - other->cells[i].count)
            return -ERANGE;
    }
    return reserve(h, h->length + extra);
}

/* The cells of other that have a place already; returns how many have none. */
static unsigned add_common(struct histogram *h, const struct histogram *other)
{
    unsigned extra = 0, at = 0;

    for (unsigned i = 0; i < other->length; i++) {
        at = find_behind(h, at, other->cells[i].bucket);
        if (at < h->length && h->cells[at].bucket == other->cells[i].bucket)
            h->cells[at].count += other->cells[i].count;
        else
            extra++;
    }
    return extra;
}

/* The others, from the back, so that each cell moves once; there is room. */
static void insert_rest(struct histogram *h, const struct histogram *other, unsigned extra)
{
    unsigned from = h->length, to = h->length + extra;

    h->length = (uint16_t)to;
    for (unsigned i = other->length; to > from;) {
        const struct histogram_cell *cell = &other->cells[i - 1];

        if (from && h->cells[from - 1].bucket >= cell->bucket) {
            i -= h->cells[from - 1].bucket == cell->bucket;
            h->cells[--to] = h->cells[--from];
        } else {
            h->cells[--to] = *cell;
            i--;
        }
    }
}

void histogram_merge_prepared(struct histogram *h, const struct histogram *other)
{
    unsigned extra = add_common(h, other);

    if (extra)
        insert_rest(h, other, extra);
}

int histogram_merge(struct histogram *h, const struct histogram *other)
{
    int err = histogram_prepare(h, other);

    if (!err)
        histogram_merge_prepared(h, other);
    return err;
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

uint64_t histogram_count(const struct histogram *h)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < h->length; i++)
        count = saturating_add(count, h->cells[i].count);
    return count;
}

uint64_t histogram_zeros(const struct histogram *h)
{
    return h->length && h->cells[0].bucket == 0 ? h->cells[0].count : 0;
}

uint64_t histogram_at(const struct histogram *h, unsigned bucket)
{
    unsigned at = find(h, bucket);

    return at < h->length && h->cells[at].bucket == bucket ? h->cells[at].count : 0;
}

uint64_t histogram_filled(const struct histogram *h)
{
    return histogram_count(h) - histogram_zeros(h);
}

bool histogram_quantile(const struct histogram *h, double q, bool skip_zeros, uint64_t *value)
{
    uint64_t zeros = skip_zeros ? histogram_zeros(h) : 0;
    uint64_t count = histogram_count(h) - zeros;
    uint64_t seen = 0;
    double rank;

    if (!count)
        return false;
    /* 0.07 * 100 is a little more than 7 in binary: a hair off, so that it does not become rank 8.
     */
    rank = ceil(q * (double)count * (1 - 2 * DBL_EPSILON));
    if (rank < 1)
        rank = 1;
    for (unsigned i = zeros ? 1 : 0; i < h->length; i++) {
        seen = saturating_add(seen, h->cells[i].count);
        if (q < 1 && (double)seen >= rank) {
            *value = bucket_lower(h->cells[i].bucket);
            return true;
        }
    }
    *value = bucket_lower(h->cells[h->length - 1].bucket);
    return true;
}

bool histogram_max(const struct histogram *h, uint64_t *value)
{
    if (!h->length)
        return false;
    *value = bucket_last(h->cells[h->length - 1].bucket);
    return true;
}

bool histogram_equal(const struct histogram *a, const struct histogram *b)
{
    if (a->length != b->length)
        return false;
    for (unsigned i = 0; i < a->length; i++)
        if (a->cells[i].bucket != b->cells[i].bucket || a->cells[i].count != b->cells[i].count)
            return false;
    return true;
}
