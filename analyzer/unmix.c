/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/unmix.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define ROUNDS_MAX 2000

/* Signatures without their zeros, which are most of them. */
struct rows {
    size_t *end; /* of each row's entries, which begin where the one before ends */
    uint32_t *bin;
    double *share;
    size_t count;
};

static int rows_make(const double *signatures, size_t bins, size_t components, struct rows *out)
{
    size_t filled = 0;

    out->count = components;
    out->end = calloc(components + 1, sizeof(*out->end));
    out->bin = calloc(components * bins + 1, sizeof(*out->bin));
    out->share = calloc(components * bins + 1, sizeof(*out->share));
    if (!out->end || !out->bin || !out->share)
        return -ENOMEM;
    for (size_t k = 0; k < components; k++) {
        for (size_t i = 0; i < bins; i++)
            if (signatures[k * bins + i] > 0) {
                out->bin[filled] = (uint32_t)i;
                out->share[filled++] = signatures[k * bins + i];
            }
        out->end[k] = filled;
    }
    return 0;
}

static void rows_clear(struct rows *rows)
{
    free(rows->end);
    free(rows->bin);
    free(rows->share);
}

static void predict(const struct rows *rows, const double *amounts, size_t bins, double *out)
{
    memset(out, 0, bins * sizeof(*out));
    for (size_t k = 0, e = 0; k < rows->count; e = rows->end[k++])
        for (; amounts[k] > 0 && e < rows->end[k]; e++)
            out[rows->bin[e]] += amounts[k] * rows->share[e];
}

/* One EM round; returns how much the amounts moved. */
static double step(const double *observed, size_t bins, const struct rows *rows, const double *margins,
                   double *amounts, double *unknown, double *ratio)
{
    double moved = 0;

    predict(rows, amounts, bins, ratio);
    for (size_t i = 0; i < bins; i++) {
        double predicted = ratio[i] + unknown[i];

        ratio[i] = predicted > 0 ? observed[i] / predicted : 0;
        unknown[i] *= ratio[i] / UNMIX_PRICE;
    }
    for (size_t k = 0, e = 0; k < rows->count; k++) {
        double factor = 0;

        for (; e < rows->end[k]; e++)
            factor += rows->share[e] * ratio[rows->bin[e]];
        factor /= 1 + margins[k];
        moved += fabs(amounts[k] * factor - amounts[k]);
        amounts[k] *= factor;
    }
    return moved;
}

/* A bin goes to the signatures that predict it, up to the price; the rest of it is unknown. */
static void divide(const double *observed, size_t bins, const struct rows *rows, const double *amounts,
                   const double *predicted, double *parts)
{
    memset(parts, 0, rows->count * bins * sizeof(*parts));
    for (size_t k = 0, e = 0; k < rows->count; k++)
        for (; e < rows->end[k]; e++) {
            size_t i = rows->bin[e];
            double known = fmin(observed[i], UNMIX_PRICE * predicted[i]);

            if (predicted[i] > 0)
                parts[k * bins + i] = known * amounts[k] * rows->share[e] / predicted[i];
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
    _cleanup_free_ double *unknown = calloc(bins + 1, sizeof(*unknown));
    _cleanup_free_ double *ratio = calloc(bins + 1, sizeof(*ratio));
    _cleanup_free_ double *margins = calloc(components + 1, sizeof(*margins)); /* what a row counts once more */
    _cleanup_(rows_clear) struct rows rows = {0};
    double total = 0;

    if (!unknown || !ratio || !margins || rows_make(signatures, bins, components, &rows))
        return -ENOMEM;
    for (size_t k = 0; k < components; k++)
        for (size_t i = real; i < bins; i++)
            margins[k] += signatures[k * bins + i];
    for (size_t i = 0; i < bins; i++) {
        total += i < real ? observed[i] : 0;
        unknown[i] = observed[i] / 2;
    }
    for (size_t k = 0; k < components; k++)
        amounts[k] = total / 2 / (double)components;
    for (unsigned round = 0; round < ROUNDS_MAX; round++)
        if (step(observed, bins, &rows, margins, amounts, unknown, ratio) < tolerance * total)
            break;
    predict(&rows, amounts, bins, ratio);
    divide(observed, bins, &rows, amounts, ratio, parts);
    *score = value(observed, bins, components, margins, amounts, unknown, ratio);
    return 0;
}
