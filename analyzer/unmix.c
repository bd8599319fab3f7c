/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/unmix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define ROUNDS_MAX 2000
#define TOLERANCE  1e-6 /* of all operations; a round that moves less is the last */

static void predict(const double *signatures, const double *amounts, size_t bins, size_t components,
                    double *out)
{
    memset(out, 0, bins * sizeof(*out));
    for (size_t k = 0; k < components; k++)
        for (size_t i = 0; amounts[k] > 0 && i < bins; i++)
            out[i] += amounts[k] * signatures[k * bins + i];
}

/* One EM round; returns how much the amounts moved. */
static double step(const double *observed, size_t bins, const double *signatures, size_t components,
                   const double *margins, double *amounts, double *unknown, double *ratio)
{
    double moved = 0;

    predict(signatures, amounts, bins, components, ratio);
    for (size_t i = 0; i < bins; i++) {
        double predicted = ratio[i] + unknown[i];

        ratio[i] = predicted > 0 ? observed[i] / predicted : 0;
        unknown[i] *= ratio[i] / UNMIX_PRICE;
    }
    for (size_t k = 0; k < components; k++) {
        double factor = 0;

        for (size_t i = 0; i < bins; i++)
            factor += signatures[k * bins + i] * ratio[i];
        factor /= 1 + margins[k];
        moved += fabs(amounts[k] * factor - amounts[k]);
        amounts[k] *= factor;
    }
    return moved;
}

/* A bin goes to the signatures that predict it, up to the price; the rest of it is unknown. */
static void divide(const double *observed, size_t bins, const double *signatures, size_t components,
                   const double *amounts, const double *predicted, double *parts)
{
    for (size_t i = 0; i < bins; i++) {
        double known = fmin(observed[i], UNMIX_PRICE * predicted[i]);

        for (size_t k = 0; k < components; k++)
            parts[k * bins + i] =
                predicted[i] > 0 ? known * amounts[k] * signatures[k * bins + i] / predicted[i] : 0;
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
          double *amounts, double *parts, double *score)
{
    _cleanup_free_ double *unknown = calloc(bins + 1, sizeof(*unknown));
    _cleanup_free_ double *ratio = calloc(bins + 1, sizeof(*ratio));
    _cleanup_free_ double *margins = calloc(components + 1, sizeof(*margins)); /* what a row counts once more */
    double total = 0;

    if (!unknown || !ratio || !margins)
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
        if (step(observed, bins, signatures, components, margins, amounts, unknown, ratio) <
            TOLERANCE * total)
            break;
    predict(signatures, amounts, bins, components, ratio);
    divide(observed, bins, signatures, components, amounts, ratio, parts);
    *score = value(observed, bins, components, margins, amounts, unknown, ratio);
    return 0;
}
