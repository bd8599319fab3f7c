/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/unmix.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define ROUNDS_MAX 2000

/*
 * A round is many small sums, each of which waits for the one before: so neighbouring bins are predicted side by side,
 * and neighbouring signatures are weighed side by side. Each sum is added in the order that it always had, so what
 * comes out is the same to the last bit.
 */
#define LANES 2
#define BLOCK 2 /* lanes */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), may_alias));
typedef int64_t lanes_mask __attribute__((vector_size(LANES * sizeof(double))));

/* Signatures by rows, each with a bin a lane, and by bins, each with a row a lane; what fills up the last lanes is 0.
 */
struct rows {
    size_t count, bins;
    size_t wide, high; /* bins and rows, in lanes */
    lanes *by_row, *by_bin;
    lanes *observed, *unknown, *ratio; /* by bins */
    lanes *margins, *amounts, *factor; /* by rows; margins: what a row counts, with what it counts once more */
};

static size_t in_lanes(size_t count)
{
    return (count + LANES * BLOCK - 1) / (LANES * BLOCK) * BLOCK;
}

static void rows_clear(struct rows *rows)
{
    free(rows->by_row);
}

static int rows_make(const double *observed, const double *signatures, size_t bins, size_t components, struct rows *out)
{
    size_t wide = in_lanes(bins), high = in_lanes(components);
    size_t count = components * wide + bins * high + 3 * wide + 3 * high + 1;
    lanes *all = aligned_alloc(sizeof(*all), count * sizeof(*all));

    if (!all)
        return -ENOMEM;
    memset(all, 0, count * sizeof(*all));
    *out = (struct rows){.count = components, .bins = bins, .wide = wide, .high = high, .by_row = all};
    out->by_bin = out->by_row + components * wide;
    out->observed = out->by_bin + bins * high;
    out->unknown = out->observed + wide;
    out->ratio = out->unknown + wide;
    out->margins = out->ratio + wide;
    out->amounts = out->margins + high;
    out->factor = out->amounts + high;
    for (size_t k = 0; k < components; k++)
        for (size_t i = 0; i < bins; i++) {
            ((double *)(out->by_row + k * wide))[i] = signatures[k * bins + i];
            ((double *)(out->by_bin + i * high))[k] = signatures[k * bins + i];
        }
    memcpy(out->observed, observed, bins * sizeof(*observed));
    return 0;
}

/* Sums of what stands in so many lines, each line times its weight: of a block of lanes, each in the order of lines. */
static void add_up(const lanes *line, size_t stride, const double *weights, size_t count, lanes out[BLOCK])
{
    lanes a = {0}, b = {0};

    for (size_t i = 0; i < count; i++, line += stride) {
        a += weights[i] * line[0];
        b += weights[i] * line[1];
    }
    out[0] = a;
    out[1] = b;
}

/* What the amounts predict of the bins. */
static void predict(const struct rows *rows, const double *amounts, lanes *out)
{
    for (size_t w = 0; w < rows->wide; w += BLOCK)
        add_up(rows->by_row + w, rows->wide, amounts, rows->count, out + w);
}

/* One EM round; returns how much the amounts moved. */
static double step(const struct rows *rows)
{
    double *amounts = (double *)rows->amounts, moved = 0;

    predict(rows, amounts, rows->ratio);
    for (size_t w = 0; w < rows->wide; w++) {
        lanes predicted = rows->ratio[w] + rows->unknown[w];
        lanes quotient = rows->observed[w] / predicted;

        rows->ratio[w] = (lanes)((lanes_mask)quotient & (predicted > 0));
        rows->unknown[w] *= rows->ratio[w] / UNMIX_PRICE;
    }
    for (size_t h = 0; h < rows->high; h += BLOCK)
        add_up(rows->by_bin + h, rows->high, (const double *)rows->ratio, rows->bins, rows->factor + h);
    for (size_t h = 0; h < rows->high; h++) {
        lanes grown = rows->amounts[h] * (rows->factor[h] / rows->margins[h]);
        lanes apart = grown - rows->amounts[h];

        for (unsigned i = 0; i < LANES; i++)
            moved += fabs(apart[i]);
        rows->amounts[h] = grown;
    }
    return moved;
}

/* A bin goes to the signatures that predict it, up to the price; the rest of it is unknown. */
static void divide(const double *observed, size_t bins, size_t components, const double *signatures,
                   const double *amounts, const double *predicted, double *parts)
{
    for (size_t k = 0; k < components; k++)
        for (size_t i = 0; i < bins; i++) {
            double known = fmin(observed[i], UNMIX_PRICE * predicted[i]);
            double share = signatures[k * bins + i];

            parts[k * bins + i] = share > 0 && predicted[i] > 0 ? known * amounts[k] * share / predicted[i] : 0;
        }
}

static double value(const double *observed, size_t bins, size_t components, const double *margins,
                    const double *amounts,
                    const double *unknown, const double *predicted)
{
    double sum = 0;

    for (size_t i = 0; i < bins; i++)
        if (observed[i] > 0)
            sum += observed[i] * log(predicted[i] + unknown[i]) - UNMIX_PRICE * unknown[i];
    for (size_t k = 0; k < components; k++)
        sum -= amounts[k] * (1 + margins[k]);
    return sum;
}

int unmix(const double *observed, size_t bins, size_t real, const double *signatures, size_t components,
          double tolerance, double *amounts, double *parts, double *score)
{
    _cleanup_free_ double *margins = calloc(components + 1, sizeof(*margins)); /* what a row counts once more */
    _cleanup_(rows_clear) struct rows rows = {0};
    double total = 0;

    if (!margins || rows_make(observed, signatures, bins, components, &rows))
        return -ENOMEM;
    for (size_t k = 0; k < components; k++)
        for (size_t i = real; i < bins; i++)
            margins[k] += signatures[k * bins + i];
    for (size_t i = 0; i < bins; i++) {
        total += i < real ? observed[i] : 0;
        ((double *)rows.unknown)[i] = observed[i] / 2;
    }
    for (size_t k = 0; k < rows.high * LANES; k++)
        ((double *)rows.margins)[k] = 1 + (k < components ? margins[k] : 0);
    for (size_t k = 0; k < components; k++)
        ((double *)rows.amounts)[k] = total / 2 / (double)components;
    for (unsigned round = 0; round < ROUNDS_MAX; round++)
        if (step(&rows) < tolerance * total)
            break;
    memcpy(amounts, rows.amounts, components * sizeof(*amounts));
    predict(&rows, amounts, rows.ratio);
    divide(observed, bins, components, signatures, amounts, (const double *)rows.ratio, parts);
    *score = value(observed, bins, components, margins, amounts, (const double *)rows.unknown,
                   (const double *)rows.ratio);
    return 0;
}
