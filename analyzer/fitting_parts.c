/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fitting_rows.h"
#include "analyzer/unmix.h"
#include "lib/cleanup.h"

#define PAIR_WORTH  0.3 /* nats a transfer */
#define EXACT_WORTH 4   /* times that, where nearly all of a size are pairs */

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

/* Calls `each` with every signature that takes part in a fit: those of active profiles (or only of one), but for the
   refused; s and first are its places among all signatures and all ingredients, k its place among these. */
static size_t each_signature(const struct fitting *fitting, uint32_t only,
                             void (*each)(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s,
                                          size_t first, size_t k, void *context),
                             void *context)
{
    const struct catalogue *catalogue = fitting->catalogue;
    size_t k = 0, s = 0, first = 0;

    for (uint32_t p = 0; p < catalogue->count; p++)
        for (uint32_t n = 0; n < catalogue->profiles[p].signature_count; n++, s++) {
            if ((only == UINT32_MAX ? fitting->active[p] : p == only) && !fitting->refused[s])
                each(fitting, p, n, s, first, k++, context);
            first += catalogue->profiles[p].signatures[n].ingredient_count;
        }
    return k;
}

static void claim(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                  void *context)
{
    const struct signature *signature = &fitting->catalogue->profiles[profile].signatures[n];
    bool *claimed = context;

    claimed[MATCH_COPY] |= signature->paired;
    for (uint32_t i = 0; i < signature->ingredient_count; i++)
        claimed[MATCH_FILE] |= signature->ingredients[i].whole;
}

/* Notes what those that take part claim, as their rows depend on it. */
static void note_claims(struct fitting *fitting, uint32_t only)
{
    memset(fitting->claimed, 0, sizeof(fitting->claimed));
    each_signature(fitting, only, claim, fitting->claimed);
}

struct rows {
    double *rows, *parts, *amounts;
};

static void make_row(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                     void *context)
{
    struct rows *to = context;

    fitting_spread(fitting, &fitting->catalogue->profiles[profile].signatures[n], first,
                   to->rows + k * fitting->all_count);
}

static void take_row(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                     void *context)
{
    const struct rows *from = context;

    fitting->amounts[s] = from->amounts[k];
    collect(fitting, from->rows + k * fitting->all_count, from->amounts[k], from->parts + k * fitting->all_count,
            &fitting->by[s]);
    part_add(&fitting->at[profile], &fitting->by[s]);
}

/* Shares of the data as it was counted, whatever was drawn in its place. */
static void take_sums(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                      void *context)
{
    const struct rows *from = context;
    const double *part = from->parts + k * fitting->all_count;

    fitting->amounts[s] = from->amounts[k];
    for (size_t g = 0; g < fitting->group_count; g++) {
        double own = part[g] / fitting->observed[g] * fitting->counted[g];

        fitting->explained[g] += part[g];
        fitting->ops[profile] += own;
        fitting->bytes[profile] += own * fitting->worth[g];
    }
}

static void choose(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                   void *context)
{
    fitting->chosen[s] = true;
}

static double pairs_in(const struct fitting *fitting, const double *groups)
{
    double pairs = 0;

    for (size_t g = 0; g < fitting->group_count; g++)
        if (fitting->of[g]->match == MATCH_COPY)
            pairs += groups[g] * (fitting->of[g]->twin ? EXACT_WORTH : 1);
    return pairs;
}

struct scoring {
    const double *parts;
    double *score;
};

static void add_pairs(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                      void *context)
{
    struct scoring *to = context;

    if (fitting->catalogue->profiles[profile].signatures[n].paired)
        *to->score += PAIR_WORTH * pairs_in(fitting, to->parts + k * fitting->all_count);
}

/* unmix() of so many rows, whose claims were noted. In the score it is worth something, to whom they are a copy, that
   there are as many reads as writes of one size, which is hardly chance; 0 is possible, too, for one that does not pass
   the floor. */
static int unmix_rows(const struct fitting *fitting, uint32_t only, size_t count, double tolerance, double floor,
                      const struct rows *rows, double *score)
{
    const struct unmixing of = {fitting->observed, fitting->all_count, fitting->group_count, rows->rows, count};
    double worth = fitting->claimed[MATCH_COPY] ? PAIR_WORTH * pairs_in(fitting, fitting->observed) : 0;
    int err = unmix(&of, tolerance, floor - worth, rows->amounts, rows->parts, score);

    if (!err && worth > 0)
        each_signature(fitting, only, add_pairs, &(struct scoring){rows->parts, score});
    return err;
}

/* The fit of the active profiles (or of only one), made now or earlier. 0, -ENOMEM, or 1 when it is not above the
   floor. */
static int fit_chosen(struct fitting *fitting, uint32_t only, double floor, const struct fit **out)
{
    size_t groups = fitting->all_count, count;
    struct fit *fit;
    int err;

    memset(fitting->chosen, 0, fitting->signature_count * sizeof(bool));
    count = each_signature(fitting, only, choose, NULL);
    fit = fit_memory_find(&fitting->memory, fitting->chosen, fitting->signature_count);
    if (!fit || !fit->made)
        note_claims(fitting, only);
    if (!fit) {
        fit = fit_memory_add(&fitting->memory, fitting->chosen, fitting->signature_count, groups);
        if (!fit)
            return -ENOMEM;
        each_signature(fitting, only, make_row, &(struct rows){.rows = fit->rows});
    }
    if (!fit->made && !(fit->score <= floor)) {
        err = unmix_rows(fitting, only, count, UNMIX_FINE, floor, &(struct rows){fit->rows, fit->parts, fit->amounts},
                         &fit->score);
        if (err < 0)
            return err;
        fit->made = !err;
        if (err)
            fit->score = floor;
    }
    *out = fit;
    return fit->score <= floor;
}

/* Parts are large, so only those are emptied that the last fit has filled. */
static void forget_parts(struct fitting *fitting)
{
    size_t s = 0;

    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        for (uint32_t n = 0; n < fitting->catalogue->profiles[p].signature_count; n++, s++)
            if (fitting->chosen[s])
                fitting->at[p] = fitting->by[s] = (struct part){0};
}

int fitting_parts(struct fitting *fitting, uint32_t only, double floor)
{
    const struct fit *fit;
    struct rows context;
    int err;

    forget_parts(fitting);
    err = fit_chosen(fitting, only, floor, &fit);
    if (err)
        return err;
    fitting->score = fit->score;
    memset(fitting->amounts, 0, fitting->signature_count * sizeof(*fitting->amounts));
    context = (struct rows){fit->rows, fit->parts, fit->amounts};
    each_signature(fitting, only, take_row, &context);
    return 0;
}

int fitting_again(struct fitting *fitting, double floor)
{
    size_t groups = fitting->all_count, count = fitting->signature_count;
    _cleanup_free_ double *rows = calloc(count * groups + 1, sizeof(*rows));
    _cleanup_free_ double *parts = calloc(count * groups + 1, sizeof(*parts));
    _cleanup_free_ double *amounts = calloc(count + 1, sizeof(*amounts));
    struct rows context = {rows, parts, amounts};
    size_t rows_made;
    int err;

    memset(fitting->explained, 0, fitting->group_count * sizeof(double));
    memset(fitting->ops, 0, fitting->catalogue->count * sizeof(double));
    memset(fitting->bytes, 0, fitting->catalogue->count * sizeof(double));
    if (!rows || !parts || !amounts)
        return -ENOMEM;
    note_claims(fitting, UINT32_MAX);
    rows_made = each_signature(fitting, UINT32_MAX, make_row, &context);
    err = unmix_rows(fitting, UINT32_MAX, rows_made, UNMIX_COARSE, floor, &context, &fitting->score);
    if (err || fitting->score <= floor)
        return err ? err : 1;
    memset(fitting->amounts, 0, count * sizeof(*fitting->amounts));
    each_signature(fitting, UINT32_MAX, take_sums, &context);
    return 0;
}

struct prediction {
    double *row, *out;
};

static void add_row(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                    void *context)
{
    struct prediction *to = context;

    memset(to->row, 0, fitting->all_count * sizeof(*to->row));
    fitting_spread(fitting, &fitting->catalogue->profiles[profile].signatures[n], first, to->row);
    for (size_t g = 0; g < fitting->all_count; g++)
        to->out[g] += fitting->amounts[s] * to->row[g];
}

int fitting_predict(struct fitting *fitting, double *out)
{
    _cleanup_free_ double *row = calloc(fitting->all_count + 1, sizeof(*row));
    struct prediction context = {row, out};

    if (!row)
        return -ENOMEM;
    memset(out, 0, fitting->all_count * sizeof(*out));
    note_claims(fitting, UINT32_MAX);
    each_signature(fitting, UINT32_MAX, add_row, &context);
    return 0;
}
