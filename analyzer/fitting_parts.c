/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/fitting_rows.h"
#include "analyzer/fitting_unmix.h"
#include "analyzer/unmix.h"

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

/* Rows that were made while so was claimed, and those that take part. */
struct remembered {
    struct row_memory *memory;
    const double **rows;
};

static void remember_row(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                         void *context)
{
    struct remembered *to = context;
    double *row = to->memory->rows + s * fitting->all_count;

    if (!to->memory->made[s])
        fitting_spread(fitting, &fitting->catalogue->profiles[profile].signatures[n], first, row);
    to->memory->made[s] = true;
    to->rows[k] = row;
}

static void take_part(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                      void *context)
{
    const struct unmixed *from = context;

    fitting->amounts[s] = from->amounts[k];
    collect(fitting, from->rows[k], from->amounts[k], from->parts + k * fitting->all_count, &fitting->by[s]);
    part_add(&fitting->at[profile], &fitting->by[s]);
}

static void choose(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                   void *context)
{
    fitting->chosen[s] = true;
}

/* One of those that are chosen, which is still to be made. NULL without memory. */
static struct fit *prepare(struct fitting *fitting, uint32_t only)
{
    unsigned claims = fitting->claimed[MATCH_COPY] + 2u * fitting->claimed[MATCH_FILE];
    size_t signatures = fitting->signature_count, groups = fitting->all_count;
    struct row_memory *rows = fit_memory_rows(&fitting->memory, claims, signatures, groups);
    struct fit *fit = rows ? fit_memory_add(&fitting->memory, fitting->chosen, signatures, groups) : NULL;

    if (fit)
        fitting_each_signature(fitting, only, remember_row, &(struct remembered){rows, fit->of.rows});
    return fit;
}

/* The fit of the active profiles (or of only one), made now or earlier. 0, -ENOMEM, or 1 when it is not above the
   floor. */
static int fit_chosen(struct fitting *fitting, uint32_t only, double floor, struct fit **out)
{
    struct fit *fit;
    int err;

    memset(fitting->chosen, 0, fitting->signature_count * sizeof(bool));
    fitting_each_signature(fitting, only, choose, NULL);
    fit = fit_memory_find(&fitting->memory, fitting->chosen, fitting->signature_count);
    if (!fit || !fit->made)
        fitting_note_claims(fitting, only);
    if (!fit)
        fit = prepare(fitting, only);
    if (!fit)
        return -ENOMEM;
    if (!fit->made && !(fit->score <= floor)) {
        err = fitting_unmix(fitting, only, UNMIX_FINE, floor, &fit->of, &fit->score);
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

    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        bool filled = false;

        for (uint32_t n = 0; n < fitting->catalogue->profiles[p].signature_count; n++, s++)
            if (fitting->chosen[s]) {
                part_clear(&fitting->by[s]);
                filled = true;
            }
        if (filled)
            part_clear(&fitting->at[p]);
    }
}

int fitting_parts(struct fitting *fitting, uint32_t only, double floor)
{
    struct fit *fit;
    int err;

    forget_parts(fitting);
    err = fit_chosen(fitting, only, floor, &fit);
    if (err)
        return err;
    fitting->score = fit->score;
    memset(fitting->amounts, 0, fitting->signature_count * sizeof(*fitting->amounts));
    fitting_each_signature(fitting, only, take_part, &fit->of);
    return 0;
}
