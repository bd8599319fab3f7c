/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/unmix.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define ROUNDS_MAX  2000
#define CHECK_FIRST 4     /* rounds before it is asked whether the floor is out of reach; then half as many again */
#define LONGER      4     /* times as far a leap may be, once one has been as far as it may */
#define ROUNDING    1e-12 /* of what is added up to a ceiling, for what is lost in doing so */

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
    lanes *observed, *ratio, *scale; /* by bins */
    lanes *margins, *factor; /* by rows; margins: what a row counts, with what it counts once more */
    lanes *amounts, *unknown; /* what rounds move: by rows and, right behind it, by bins */
    lanes *from, *once, *twice; /* the same before a round, after it and after the next one */
};

static size_t in_lanes(size_t count)
{
    return (count + LANES * BLOCK - 1) / (LANES * BLOCK) * BLOCK;
}

static void rows_clear(struct rows *rows)
{
    free(rows->by_row);
}

static int rows_make(const struct unmixing *of, struct rows *out)
{
    size_t bins = of->bins, components = of->components;
    size_t wide = in_lanes(bins), high = in_lanes(components);
    size_t count = components * wide + bins * high + 3 * wide + 2 * high + 4 * (high + wide) + 1;
    lanes *all = aligned_alloc(sizeof(*all), count * sizeof(*all));

    if (!all)
        return -ENOMEM;
    memset(all, 0, count * sizeof(*all));
    *out = (struct rows){.count = components, .bins = bins, .wide = wide, .high = high, .by_row = all};
    out->by_bin = out->by_row + components * wide;
    out->observed = out->by_bin + bins * high;
    out->ratio = out->observed + wide;
    out->scale = out->ratio + wide;
    out->margins = out->scale + wide;
    out->factor = out->margins + high;
    out->amounts = out->factor + high;
    out->unknown = out->amounts + high;
    out->from = out->unknown + wide;
    out->once = out->from + high + wide;
    out->twice = out->once + high + wide;
    for (size_t k = 0; k < components; k++)
        for (size_t i = 0; i < bins; i++) {
            ((double *)(out->by_row + k * wide))[i] = of->signatures[k][i];
            ((double *)(out->by_bin + i * high))[k] = of->signatures[k][i];
        }
    memcpy(out->observed, of->observed, bins * sizeof(*of->observed));
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
static void divide(const struct unmixing *of, const double *amounts, const double *predicted, double *parts)
{
    for (size_t k = 0; k < of->components; k++)
        for (size_t i = 0; i < of->bins; i++) {
            double known = fmin(of->observed[i], UNMIX_PRICE * predicted[i]);
            double share = of->signatures[k][i];

            parts[k * of->bins + i] = share > 0 && predicted[i] > 0 ? known * amounts[k] * share / predicted[i] : 0;
        }
}

/* What is maximised, of amounts that were predicted. */
static double value(const struct rows *rows, const double *predicted)
{
    const double *observed = (const double *)rows->observed, *unknown = (const double *)rows->unknown;
    const double *amounts = (const double *)rows->amounts, *margins = (const double *)rows->margins;
    double sum = 0;

    for (size_t i = 0; i < rows->bins; i++)
        if (observed[i] > 0)
            sum += observed[i] * log(predicted[i] + unknown[i]) - UNMIX_PRICE * unknown[i];
    for (size_t k = 0; k < rows->count; k++)
        sum -= amounts[k] * margins[k];
    return sum;
}

/*
 * No amounts have a higher value than this. Any weights y of the bins make log m <= m y - log y - 1, so that what is
 * maximised is at most linear in the amounts, and where none of its slopes is positive, at most what is left without
 * them (Lagrangian duality; Boyd, Vandenberghe, Convex Optimization, 2004, 5.2). Ratios of the last round are such
 * weights, once they are scaled down wherever a signature or the unknown would still grow by them.
 */
static double ceiling(const struct rows *rows)
{
    const double *observed = (const double *)rows->observed, *margins = (const double *)rows->margins;
    double *ratio = (double *)rows->ratio, *scale = (double *)rows->scale, sum = 0, size = 0;

    for (size_t i = 0; i < rows->bins; i++) {
        ratio[i] = fmin(ratio[i], UNMIX_PRICE);
        scale[i] = 1;
    }
    for (size_t k = 0; k < rows->count; k++) {
        const double *row = (const double *)(rows->by_row + k * rows->wide);
        double slope = 0;

        for (size_t i = 0; i < rows->bins; i++)
            slope += row[i] * ratio[i];
        slope /= margins[k];
        for (size_t i = 0; i < rows->bins; i++)
            if (row[i] > 0 && slope > scale[i])
                scale[i] = slope;
    }
    for (size_t i = 0; i < rows->bins; i++)
        if (observed[i] > 0) {
            double term = observed[i] * log(observed[i] * scale[i] / ratio[i]);

            sum += term - observed[i];
            size += fabs(term) + observed[i];
        }
    return sum + ROUNDING * size;
}

static void copy(const struct rows *rows, lanes *to, const lanes *from)
{
    memcpy(to, from, (rows->high + rows->wide) * sizeof(*to));
}

/*
 * Where two rounds lead, farther along as they differ less from each other: SQUAREM (Varadhan, Roland, Simple and
 * globally convergent methods for accelerating the convergence of any EM algorithm, 2008; steplength S3, without a look
 * at the score, as the next two rounds raise it anyway). What would become negative stays where the rounds left it.
 */
static void leap(const struct rows *rows, double *longest)
{
    const double *from = (const double *)rows->from, *once = (const double *)rows->once;
    const double *twice = (const double *)rows->twice;
    double moved = 0, turned = 0, length;
    size_t wide = rows->high + rows->wide;

    for (size_t i = 0; i < wide * LANES; i++) {
        double turn = twice[i] - once[i] - (once[i] - from[i]);

        moved += (once[i] - from[i]) * (once[i] - from[i]);
        turned += turn * turn;
    }
    length = turned > 0 ? fmin(sqrt(moved / turned), *longest) : 1;
    if (!(length > 1)) /* it is where they have come */
        return;
    if (length == *longest)
        *longest *= LONGER;
    for (size_t w = 0; w < wide; w++) {
        lanes once_moved = rows->once[w] - rows->from[w], turn = rows->twice[w] - rows->once[w] - once_moved;
        lanes far = rows->from[w] + 2 * length * once_moved + length * length * turn;
        lanes_mask stays = ~(far > 0);

        rows->amounts[w] = (lanes)(((lanes_mask)far & ~stays) | ((lanes_mask)rows->twice[w] & stays));
    }
}

/* Amounts are beyond the floor already, so it need not be asked any more whether it is out of reach. */
static bool is_beyond(const struct rows *rows, double floor)
{
    predict(rows, (const double *)rows->amounts, rows->scale);
    return value(rows, (const double *)rows->scale) > floor;
}

/* Rounds until one moves less than `enough`, two between leaps. 1 if it is sure before that the floor is out of reach. */
static int iterate(const struct rows *rows, double enough, double floor)
{
    double longest = LONGER;
    unsigned check = CHECK_FIRST;

    for (unsigned round = 2; round <= ROUNDS_MAX; round += 2) {
        copy(rows, rows->from, rows->amounts);
        if (step(rows) < enough)
            break;
        copy(rows, rows->once, rows->amounts);
        if (step(rows) < enough)
            break;
        if (round >= check && floor > -INFINITY) {
            if (is_beyond(rows, floor))
                floor = -INFINITY;
            else if (ceiling(rows) <= floor)
                return 1;
            check += check / 2;
        }
        copy(rows, rows->twice, rows->amounts);
        leap(rows, &longest);
    }
    return 0;
}

/* What a row counts once more, behind the real bins. */
static double counted_again(const struct unmixing *of, const double *row)
{
    double sum = 0;

    for (size_t i = of->real; i < of->bins; i++)
        sum += row[i];
    return sum;
}

int unmix(const struct unmixing *of, double tolerance, double floor, double *amounts, double *parts, double *score)
{
    _cleanup_(rows_clear) struct rows rows = {0};
    double total = 0;

    if (rows_make(of, &rows))
        return -ENOMEM;
    for (size_t i = 0; i < of->bins; i++) {
        total += i < of->real ? of->observed[i] : 0;
        ((double *)rows.unknown)[i] = of->observed[i] / 2;
    }
    for (size_t k = 0; k < rows.high * LANES; k++)
        ((double *)rows.margins)[k] = 1 + (k < of->components ? counted_again(of, of->signatures[k]) : 0);
    for (size_t k = 0; k < of->components; k++)
        ((double *)rows.amounts)[k] = total / 2 / (double)of->components;
    if (iterate(&rows, tolerance * total, floor))
        return 1;
    memcpy(amounts, rows.amounts, of->components * sizeof(*amounts));
    predict(&rows, amounts, rows.ratio);
    divide(of, amounts, (const double *)rows.ratio, parts);
    *score = value(&rows, (const double *)rows.ratio);
    return 0;
}
