/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/mixture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/unmix.h"
#include "lib/cleanup.h"

#define PART_OPS_MIN    10
#define PART_BYTES_MIN  (4u << 20) /* fewer operations are fine if they moved this much */
#define ALONE_OPS_MIN   0.7        /* what a profile that stands alone has to explain */
#define ALONE_BYTES_MIN 0.8

struct fitting {
    const struct catalogue *catalogue;
    struct bin *bins;
    double *observed; /* the bins' operations */
    size_t bin_count;
    struct part whole;
    bool process;
    uint32_t peers;
    bool *active;    /* by profile */
    struct part *at; /* by profile, the last is unknown */
};

static bool holds(const struct ingredient *ingredient, const struct bin *bin)
{
    if (ingredient->op != bin->op || ingredient->failed != bin->failed)
        return false;
    return !ingredient->sized || (bucket_lower(bin->bucket) >= ingredient->lower &&
                                  bucket_lower(bin->bucket) < ingredient->upper);
}

/* Spreads a signature over the bins, inside each of its ranges as the data is spread. */
static void spread(const struct fitting *fitting, const struct signature *signature, double *row)
{
    for (uint32_t n = 0; n < signature->ingredient_count; n++) {
        const struct ingredient *ingredient = &signature->ingredients[n];
        double total = 0;

        for (size_t i = 0; i < fitting->bin_count; i++)
            if (holds(ingredient, &fitting->bins[i]))
                total += fitting->observed[i];
        for (size_t i = 0; total > 0 && i < fitting->bin_count; i++)
            if (holds(ingredient, &fitting->bins[i]))
                row[i] += ingredient->weight * fitting->observed[i] / total;
    }
}

/*
 * How alike the part and the signature's prediction of it are: sum of the smaller over sum of the larger
 * (Ruzicka 1958), 1 for a perfect fit. What the signature wants and the data does not have counts against it.
 */
static double likeness(const struct fitting *fitting, const double *row, double amount,
                       const double *part)
{
    double common = 0, all = amount;

    for (size_t i = 0; i < fitting->bin_count; i++) {
        common += fmin(part[i], amount * row[i]);
        all += fmax(0, part[i] - amount * row[i]);
    }
    return all > 0 ? common / all : 0;
}

static bool keeps(double value, const struct requirement *requirement)
{
    if (isnan(value))
        return isinf(requirement->min);
    return value >= requirement->min && value <= requirement->max;
}

/* What confidence is multiplied with for the requirements; 0 when one that must hold does not. */
static double requirements(const struct fitting *fitting, const struct profile *profile,
                           const struct part *part)
{
    const struct feature_context context = {part, &fitting->whole, fitting->process,
                                            fitting->peers};
    double factor = 1;

    for (uint32_t i = 0; i < profile->requirement_count; i++)
        if (!keeps(feature_value(&context, profile->requirements[i].feature),
                   &profile->requirements[i]))
            factor *= profile->requirements[i].otherwise;
    return factor;
}

/* Adds one signature's part to its profile's. */
static void collect(const struct fitting *fitting, uint32_t profile, const double *row,
                    double amount, const double *part)
{
    struct part *to = &fitting->at[profile];
    double ops = 0;

    for (size_t i = 0; i < fitting->bin_count; i++) {
        if (part[i] > 0)
            part_add_bin(to, &fitting->bins[i], part[i]);
        ops += part[i];
    }
    to->fit += ops * likeness(fitting, row, amount, part);
}

/* Fits all active profiles (or only one), and sorts the parts by profile. */
static int fit(struct fitting *fitting, uint32_t only)
{
    const struct catalogue *catalogue = fitting->catalogue;
    size_t bins = fitting->bin_count, count = 0, k = 0;
    _cleanup_free_ double *rows = NULL, *amounts = NULL, *parts = NULL;
    _cleanup_free_ uint32_t *owner = NULL;

    for (uint32_t p = 0; p < catalogue->count; p++)
        count += catalogue->profiles[p].signature_count;
    rows = calloc(count * bins + 1, sizeof(*rows));
    parts = calloc(count * bins + 1, sizeof(*parts));
    amounts = calloc(count + 1, sizeof(*amounts));
    owner = calloc(count + 1, sizeof(*owner));
    if (!rows || !parts || !amounts || !owner)
        return -ENOMEM;
    memset(fitting->at, 0, (catalogue->count + 1) * sizeof(*fitting->at));
    for (uint32_t p = 0; p < catalogue->count; p++) {
        const struct profile *profile = &catalogue->profiles[p];

        if (only == UINT32_MAX ? !fitting->active[p] : p != only)
            continue;
        for (uint32_t s = 0; s < profile->signature_count; s++, k++) {
            owner[k] = p;
            spread(fitting, &profile->signatures[s], rows + k * bins);
        }
    }
    if (k && unmix(fitting->observed, bins, rows, k, amounts, parts))
        return -ENOMEM;
    for (size_t i = 0; i < k; i++)
        collect(fitting, owner[i], rows + i * bins, amounts[i], parts + i * bins);
    return 0;
}

static bool is_tiny(const struct part *part)
{
    return part_ops(part) < PART_OPS_MIN && part_bytes(part) < PART_BYTES_MIN;
}

/*
 * Fits, drops the smallest profile that is refused by a requirement, and fits again: what it held may be
 * explained by another. *rejected: the operations that dropped profiles held.
 */
static int fit_blend(struct fitting *fitting, double *rejected)
{
    for (;;) {
        uint32_t worst = UINT32_MAX;
        double least = INFINITY;
        int err = fit(fitting, UINT32_MAX);

        if (err)
            return err;
        for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
            double ops = part_ops(&fitting->at[p]);

            if (fitting->active[p] && ops < least &&
                (is_tiny(&fitting->at[p]) ||
                 !(requirements(fitting, &fitting->catalogue->profiles[p], &fitting->at[p]) > 0))) {
                worst = p;
                least = ops;
            }
        }
        if (worst == UINT32_MAX)
            return 0;
        *rejected += least;
        fitting->active[worst] = false;
    }
}

/* A profile that explains nearly everything the process did, and stands for it. 0, 1 if found, -ENOMEM. */
static int fit_alone(struct fitting *fitting)
{
    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        const struct profile *profile = &fitting->catalogue->profiles[p];
        int err;

        if (profile->pipeline || !profile->alone ||
            !(requirements(fitting, profile, &fitting->whole) > 0))
            continue;
        err = fit(fitting, p);
        if (err)
            return err;
        if (part_ops(&fitting->at[p]) >= ALONE_OPS_MIN * part_ops(&fitting->whole) &&
            part_bytes(&fitting->at[p]) >= ALONE_BYTES_MIN * part_bytes(&fitting->whole))
            return 1;
    }
    return 0;
}

/* Everything that no profile holds. */
static void add_rest(const struct fitting *fitting, double rejected, struct part *unknown)
{
    struct part rest = fitting->whole;
    double ops;

    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        const struct part *part = &fitting->at[p];

        for (unsigned op = 0; op < OP_COUNT; op++) {
            rest.ok[op] -= fmin(rest.ok[op], part->ok[op]);
            rest.failed[op] -= fmin(rest.failed[op], part->failed[op]);
            rest.bytes[op] -= fmin(rest.bytes[op], part->bytes[op]);
        }
        for (unsigned i = 0; i < BUCKET_COUNT; i++) {
            rest.read[i] -= fmin(rest.read[i], part->read[i]);
            rest.write[i] -= fmin(rest.write[i], part->write[i]);
        }
    }
    ops = part_ops(&rest);
    rest.rejected = fmin(rejected, ops);
    rest.processes = ops > 0 && fitting->process;
    part_add(unknown, &rest);
}

static int fit_all(struct fitting *fitting, struct part *parts)
{
    const struct catalogue *catalogue = fitting->catalogue;
    double rejected = 0;
    bool enough = part_ops(&fitting->whole) >= MIXTURE_OPS_MIN ||
                  part_bytes(&fitting->whole) >= MIXTURE_BYTES_MIN;
    int found = enough ? fit_alone(fitting) : 0;

    for (uint32_t p = 0; p < catalogue->count; p++)
        fitting->active[p] =
            enough && !catalogue->profiles[p].pipeline && !catalogue->profiles[p].alone;
    if (!found) {
        memset(fitting->at, 0, (catalogue->count + 1) * sizeof(*fitting->at));
        found = enough ? fit_blend(fitting, &rejected) : 0;
    }
    if (found < 0)
        return found;
    for (uint32_t p = 0; p < catalogue->count; p++) {
        struct part *part = &fitting->at[p];

        if (!(part_ops(part) > 0))
            continue;
        part->processes = fitting->process;
        part->confidence = part->fit * catalogue->profiles[p].confidence *
                           requirements(fitting, &catalogue->profiles[p], part);
        part_add(&parts[p], part);
    }
    add_rest(fitting, rejected, &parts[catalogue->count]);
    return 0;
}

int mixture_add(const struct catalogue *catalogue, const struct tally *tally, bool process,
                uint32_t peers, struct part *parts)
{
    struct fitting fitting = {.catalogue = catalogue, .process = process, .peers = peers};
    int err = bins_of(tally, &fitting.bins, &fitting.bin_count);

    if (err)
        return err;
    fitting.observed = calloc(fitting.bin_count + 1, sizeof(double));
    fitting.active = calloc(catalogue->count + 1, sizeof(bool));
    fitting.at = calloc(catalogue->count + 1, sizeof(struct part));
    err = fitting.observed && fitting.active && fitting.at ? 0 : -ENOMEM;
    for (size_t i = 0; !err && i < fitting.bin_count; i++) {
        fitting.observed[i] = fitting.bins[i].ops;
        part_add_bin(&fitting.whole, &fitting.bins[i], fitting.bins[i].ops);
    }
    if (!err)
        err = fit_all(&fitting, parts);
    free(fitting.bins);
    free(fitting.observed);
    free(fitting.active);
    free(fitting.at);
    return err;
}
