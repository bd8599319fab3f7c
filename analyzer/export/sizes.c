/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/export/sizes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/vector.h"

#define ERROR_MAX 0.002 /* of all bytes, that a mixture may be wrong by */

/* The histogram's cells without zeros, each as one size. */
struct cells {
    const struct histogram_cell *cell;
    unsigned count;
    double within; /* where in its bucket a size is, 0..1 */
    uint64_t align;
    double bytes;
};

static uint64_t size_at(const struct cells *cells, unsigned i)
{
    unsigned bucket = cells->cell[i].bucket;
    uint64_t size = bucket_lower(bucket) + (uint64_t)(cells->within * bucket_width(bucket) + 0.5);

    return size < cells->align ? cells->align : size / cells->align * cells->align;
}

/* Shares in whole per cents, those with the largest rest rounded up. */
static void share_out(const struct cells *cells, unsigned from, unsigned end, struct size_mix *mix)
{
    double rest[SIZES_SPLITS];
    unsigned left = 100;

    for (unsigned i = from; i < end; i++) {
        double exact = 100.0 * (double)cells->cell[i].count / (double)mix->ops;

        mix->shares[i - from] = (struct size_share){size_at(cells, i), (unsigned)exact};
        rest[i - from] = exact - floor(exact);
        left -= (unsigned)exact;
    }
    while (left--) {
        unsigned best = 0;

        for (unsigned k = 1; k < mix->count; k++)
            if (rest[k] > rest[best])
                best = k;
        mix->shares[best].percent++;
        rest[best] = -1;
    }
}

/* By how many bytes the mixture is wrong, by rounding and (two standard deviations) by chance. */
static double error_of(const struct cells *cells, unsigned from, unsigned end, const struct size_mix *mix)
{
    double exact = 0, rounded = 0, squares = 0, ops = (double)mix->ops, mean;

    for (unsigned i = from; i < end; i++) {
        double size = (double)size_at(cells, i), part = mix->shares[i - from].percent / 100.0;

        if (!mix->shares[i - from].percent)
            return INFINITY; /* this size would be gone */
        exact += (double)cells->cell[i].count * size;
        rounded += ops * part * size;
        squares += part * size * size;
    }
    mean = rounded / ops;
    return fabs(rounded - exact) + 2 * sqrt(fmax(squares - mean * mean, 0) * ops);
}

static int divide(const struct cells *cells, unsigned from, unsigned end, struct size_mixes *out)
{
    struct size_mix mix = {.count = end - from};
    unsigned middle = (from + end) / 2;
    int err;

    if (from == end)
        return 0;
    for (unsigned i = from; i < end; i++)
        mix.ops += cells->cell[i].count;
    if (mix.count <= SIZES_SPLITS) {
        share_out(cells, from, end, &mix);
        if (mix.count == 1 || error_of(cells, from, end, &mix) <= ERROR_MAX * cells->bytes) {
            if (vector_reserve((void **)&out->list, &out->capacity, out->count, sizeof(mix)))
                return -ENOMEM;
            out->list[out->count++] = mix;
            return 0;
        }
    }
    err = divide(cells, from, middle, out);
    return err ? err : divide(cells, middle, end, out);
}

static bool is_quantile(const struct histogram *sizes, const struct histogram_cell *cell)
{
    static const double quantiles[] = {0.5, 0.95, 0.99};
    uint64_t value;

    for (unsigned q = 0; q < sizeof(quantiles) / sizeof(*quantiles); q++)
        if (histogram_quantile(sizes, quantiles[q], true, &value) && bucket_of(value) == cell->bucket)
            return true;
    return false;
}

/* Sizes lie at the beginning of their buckets, as most programs' do, unless the bytes say something else. */
static void place(struct cells *cells)
{
    double lower = 0, width = 0;

    for (unsigned i = 0; i < cells->count; i++) {
        const struct histogram_cell *cell = &cells->cell[i];

        lower += (double)cell->count * (double)bucket_lower(cell->bucket);
        width += (double)cell->count * bucket_width(cell->bucket);
    }
    cells->within = width > 0 ? fmin(fmax((cells->bytes - lower) / width, 0), 1) : 0;
    if (cells->bytes < 1.001 * lower)
        cells->within = 0;
}

int sizes_of(const struct histogram *sizes, uint64_t bytes, uint64_t align, struct size_mixes *out)
{
    struct cells cells = {.cell = sizes->cells, .count = sizes->length, .align = align, .bytes = (double)bytes};
    struct size_mixes mixes = {0};
    unsigned from = 0;
    int err = 0;

    if (cells.count && !cells.cell[0].bucket) {
        cells.cell++;
        cells.count--;
    }
    place(&cells);
    for (unsigned i = 0; !err && i < cells.count; i++) {
        if (!is_quantile(sizes, &cells.cell[i]))
            continue;
        err = divide(&cells, from, i, &mixes);
        if (!err)
            err = divide(&cells, i, i + 1, &mixes);
        from = i + 1;
    }
    if (!err)
        err = divide(&cells, from, cells.count, &mixes);
    if (err) {
        sizes_clear(&mixes);
        return err;
    }
    *out = mixes;
    return 0;
}

uint64_t size_mix_max(const struct size_mix *mix)
{
    uint64_t max = 0;

    for (unsigned i = 0; i < mix->count; i++)
        max = mix->shares[i].bytes > max ? mix->shares[i].bytes : max;
    return max;
}

void sizes_clear(struct size_mixes *mixes)
{
    free(mixes->list);
    *mixes = (struct size_mixes){0};
}
