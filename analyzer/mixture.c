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
#define NEEDED_COST     0.15       /* nats an operation; one that becomes unknown costs about 0.7 */
#define FIT_MIN         0.65 /* a part that is less like its signature is not named after it */
#define ALONE_OPS_MIN   0.7  /* what a profile that stands alone has to explain */
#define ALONE_BYTES_MIN 0.8

/*
 * Bins that lie in the same ranges of all signatures cannot be told apart by the fit: they are
 * fitted as one group, and get its parts in proportion.
 */
struct fitting {
    const struct catalogue *catalogue;
    struct bin *bins;
    size_t bin_count;
    size_t *group;         /* of each bin */
    const struct bin **of; /* a bin of each group */
    double *observed;      /* each group's operations */
    size_t group_count;
    struct part whole;
    bool process;
    uint32_t peers;
    bool *active;    /* by profile */
    bool *refused;   /* by signature, all profiles' in one row */
    struct part *at; /* by profile */
    struct part *by; /* by signature */
    double score;    /* of the last fit */
};

static bool holds(const struct ingredient *ingredient, const struct bin *bin)
{
    if (ingredient->op != bin->op || ingredient->failed != bin->failed)
        return false;
    return !ingredient->sized || (bucket_lower(bin->bucket) >= ingredient->lower &&
                                  bucket_lower(bin->bucket) < ingredient->upper);
}

static bool are_alike(const struct catalogue *catalogue, const struct bin *a, const struct bin *b)
{
    if (a->op != b->op || a->failed != b->failed)
        return false;
    for (uint32_t p = 0; p < catalogue->count; p++)
        for (uint32_t s = 0; s < catalogue->profiles[p].signature_count; s++) {
            const struct signature *signature = &catalogue->profiles[p].signatures[s];

            for (uint32_t n = 0; n < signature->ingredient_count; n++)
                if (holds(&signature->ingredients[n], a) != holds(&signature->ingredients[n], b))
                    return false;
        }
    return true;
}

/* Bins come in the order of their sizes, so those of a group are neighbours. */
static int make_groups(struct fitting *fitting)
{
    size_t count = fitting->bin_count;

    fitting->group = calloc(count + 1, sizeof(*fitting->group));
    fitting->of = calloc(count + 1, sizeof(*fitting->of));
    fitting->observed = calloc(count + 1, sizeof(*fitting->observed));
    if (!fitting->group || !fitting->of || !fitting->observed)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct bin *bin = &fitting->bins[i];
        size_t last = fitting->group_count - 1;

        if (!i || !are_alike(fitting->catalogue, bin, fitting->of[last])) {
            last = fitting->group_count++;
            fitting->of[last] = bin;
        }
        fitting->group[i] = last;
        fitting->observed[last] += bin->ops;
    }
    return 0;
}

/* Spreads a signature over the groups, inside each of its ranges as the data is spread. */
static void spread(const struct fitting *fitting, const struct signature *signature, double *row)
{
    for (uint32_t n = 0; n < signature->ingredient_count; n++) {
        const struct ingredient *ingredient = &signature->ingredients[n];
        double total = 0;

        for (size_t g = 0; g < fitting->group_count; g++)
            if (holds(ingredient, fitting->of[g]))
                total += fitting->observed[g];
        for (size_t g = 0; total > 0 && g < fitting->group_count; g++)
            if (holds(ingredient, fitting->of[g]))
                row[g] += ingredient->weight * fitting->observed[g] / total;
    }
}

/*
 * How alike the part and the signature's prediction of it are: sum of the smaller over sum of the
 * larger (Ruzicka 1958), 1 for a perfect fit. What the signature wants and the data does not have
 * counts against it.
 */
static double likeness(const struct fitting *fitting, const double *row, double amount,
                       const double *part)
{
    double common = 0, all = amount;

    for (size_t g = 0; g < fitting->group_count; g++) {
        common += fmin(part[g], amount * row[g]);
        all += fmax(0, part[g] - amount * row[g]);
    }
    return all > 0 ? common / all : 0;
}

static bool keeps(double value, const struct requirement *requirement)
{
    if (isnan(value))
        return isinf(requirement->min);
    return value >= requirement->min && value <= requirement->max;
}

/*
 * What confidence is multiplied with for the requirements on a profile's part, or on one
 * signature's; 0 when one that must hold does not.
 */
static double requirements(const struct fitting *fitting, const struct profile *profile,
                           const struct part *part, bool each)
{
    const struct feature_context context = {part, &fitting->whole, fitting->process,
                                            fitting->peers};
    double factor = 1;

    for (uint32_t i = 0; i < profile->requirement_count; i++)
        if (profile->requirements[i].each == each &&
            !keeps(feature_value(&context, profile->requirements[i].feature),
                   &profile->requirements[i]))
            factor *= profile->requirements[i].otherwise;
    return factor;
}

/* Turns one signature's groups into a part. */
static void collect(const struct fitting *fitting, const double *row, double amount,
                    const double *part, struct part *to)
{
    double ops = 0;

    for (size_t i = 0; i < fitting->bin_count; i++) {
        size_t g = fitting->group[i];
        double own = part[g] * fitting->bins[i].ops / fitting->observed[g];

        if (own > 0)
            part_add_bin(to, &fitting->bins[i], own);
        ops += own;
    }
    to->fit = ops * likeness(fitting, row, amount, part);
}

static size_t count_signatures(const struct catalogue *catalogue)
{
    size_t count = 0;

    for (uint32_t p = 0; p < catalogue->count; p++)
        count += catalogue->profiles[p].signature_count;
    return count;
}

/* Fits all active profiles (or only one), and sorts the parts by signature and by profile. */
static int fit(struct fitting *fitting, uint32_t only)
{
    const struct catalogue *catalogue = fitting->catalogue;
    size_t groups = fitting->group_count, count = count_signatures(catalogue), k = 0, s = 0;
    _cleanup_free_ double *rows = calloc(count * groups + 1, sizeof(*rows));
    _cleanup_free_ double *parts = calloc(count * groups + 1, sizeof(*parts));
    _cleanup_free_ double *amounts = calloc(count + 1, sizeof(*amounts));

    if (!rows || !parts || !amounts)
        return -ENOMEM;
    for (uint32_t p = 0; p < catalogue->count; p++)
        for (uint32_t n = 0; n < catalogue->profiles[p].signature_count; n++, s++)
            if ((only == UINT32_MAX ? fitting->active[p] : p == only) && !fitting->refused[s])
                spread(fitting, &catalogue->profiles[p].signatures[n], rows + k++ * groups);
    if (unmix(fitting->observed, groups, rows, k, amounts, parts, &fitting->score))
        return -ENOMEM;
    memset(fitting->at, 0, (catalogue->count + 1) * sizeof(*fitting->at));
    memset(fitting->by, 0, (count + 1) * sizeof(*fitting->by));
    k = s = 0;
    for (uint32_t p = 0; p < catalogue->count; p++)
        for (uint32_t n = 0; n < catalogue->profiles[p].signature_count; n++, s++) {
            if (!(only == UINT32_MAX ? fitting->active[p] : p == only) || fitting->refused[s])
                continue;
            collect(fitting, rows + k * groups, amounts[k], parts + k * groups, &fitting->by[s]);
            part_add(&fitting->at[p], &fitting->by[s]);
            k++;
        }
    return 0;
}

static bool is_tiny(const struct part *part)
{
    return part_ops(part) < PART_OPS_MIN && part_bytes(part) < PART_BYTES_MIN;
}

/* Refuses the smallest signature that breaks a bound of its own. True if there was one. */
static bool refuse_signature(struct fitting *fitting)
{
    const struct catalogue *catalogue = fitting->catalogue;
    size_t s = 0, worst = SIZE_MAX;
    double least = INFINITY;

    for (uint32_t p = 0; p < catalogue->count; p++)
        for (uint32_t n = 0; n < catalogue->profiles[p].signature_count; n++, s++) {
            double ops = part_ops(&fitting->by[s]);

            if (ops > 0 && ops < least &&
                !(requirements(fitting, &catalogue->profiles[p], &fitting->by[s], true) > 0)) {
                worst = s;
                least = ops;
            }
        }
    if (worst != SIZE_MAX)
        fitting->refused[worst] = true;
    return worst != SIZE_MAX;
}

/* Fits the active profiles, without the signatures that break a bound of their own. 0 or -ENOMEM.
 */
static int fit_active(struct fitting *fitting)
{
    int err;

    memset(fitting->refused, 0, count_signatures(fitting->catalogue) * sizeof(bool));
    do
        err = fit(fitting, UINT32_MAX);
    while (!err && refuse_signature(fitting));
    return err;
}

/* What leaving a profile out of the active ones costs, in nats an operation it holds. 0 or -ENOMEM.
 */
static int cost_of(struct fitting *fitting, uint32_t profile, double ops, double score,
                   double *cost)
{
    int err;

    fitting->active[profile] = false;
    err = fit_active(fitting);
    fitting->active[profile] = true;
    if (!err)
        *cost = (score - fitting->score) / ops;
    return err;
}

/*
 * The profile that, added to the active ones, explains most: it keeps its bounds, is more than a
 * trace, and what it holds could not nearly as well be explained without it. UINT32_MAX in *best
 * when there is none. 0 or -ENOMEM.
 */
static int find_best(struct fitting *fitting, double base, uint32_t *best, double *rejected)
{
    double top = base;

    *best = UINT32_MAX;
    *rejected = 0;
    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        const struct profile *profile = &fitting->catalogue->profiles[p];
        const struct part *part = &fitting->at[p];
        double ops;
        int err;

        if (profile->pipeline || profile->alone || fitting->active[p])
            continue;
        fitting->active[p] = true;
        err = fit_active(fitting);
        fitting->active[p] = false;
        if (err)
            return err;
        ops = part_ops(part);
        if (is_tiny(part) || fitting->score - base < NEEDED_COST * ops)
            continue;
        if (!(requirements(fitting, profile, part, false) > 0) || part->fit < FIT_MIN * ops) {
            *rejected = fmax(*rejected, ops);
        } else if (fitting->score > top) {
            top = fitting->score;
            *best = p;
        }
    }
    return 0;
}

/* Drops a profile that a later one has made needless. 1 if there was one, 0 or -ENOMEM. */
static int drop_needless(struct fitting *fitting, double score)
{
    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        double ops = part_ops(&fitting->at[p]), cost = 0;
        int err;

        if (!fitting->active[p])
            continue;
        err = ops > 0 ? cost_of(fitting, p, ops, score, &cost) : 0;
        if (err)
            return err;
        if (cost < NEEDED_COST) {
            fitting->active[p] = false;
            return 1;
        }
        err = fit_active(fitting);
        if (err)
            return err;
    }
    return 0;
}

/*
 * Signatures overlap, so with all of them at once each would take a little of everything. Profiles
 * are therefore taken in one at a time, the one that explains most first (forward selection), and
 * dropped again when those taken later make them needless. 0 or -ENOMEM.
 */
static int fit_blend(struct fitting *fitting, double *rejected)
{
    int err = fit_active(fitting);

    for (uint32_t round = 0; !err && round < 2 * fitting->catalogue->count; round++) {
        uint32_t best;

        err = find_best(fitting, fitting->score, &best, rejected);
        if (err)
            break;
        if (best == UINT32_MAX)
            return fit_active(fitting);
        fitting->active[best] = true;
        err = fit_active(fitting);
        while (!err && (err = drop_needless(fitting, fitting->score)) == 1)
            err = fit_active(fitting);
    }
    return err;
}

/* A profile that explains nearly everything the process did, and stands for it. 0, 1 if found,
 * -ENOMEM. */
static int fit_alone(struct fitting *fitting)
{
    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        const struct profile *profile = &fitting->catalogue->profiles[p];
        int err;

        if (profile->pipeline || !profile->alone ||
            !(requirements(fitting, profile, &fitting->whole, false) > 0))
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
                           requirements(fitting, &catalogue->profiles[p], part, false);
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
    err = make_groups(&fitting);
    fitting.active = calloc(catalogue->count + 1, sizeof(bool));
    fitting.at = calloc(catalogue->count + 1, sizeof(struct part));
    fitting.refused = calloc(count_signatures(catalogue) + 1, sizeof(bool));
    fitting.by = calloc(count_signatures(catalogue) + 1, sizeof(struct part));
    if (!fitting.active || !fitting.at || !fitting.refused || !fitting.by)
        err = -ENOMEM;
    for (size_t i = 0; !err && i < fitting.bin_count; i++)
        part_add_bin(&fitting.whole, &fitting.bins[i], fitting.bins[i].ops);
    if (!err)
        err = fit_all(&fitting, parts);
    free(fitting.bins);
    free(fitting.group);
    free(fitting.of);
    free(fitting.observed);
    free(fitting.active);
    free(fitting.refused);
    free(fitting.by);
    free(fitting.at);
    return err;
}
