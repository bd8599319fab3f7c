/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/resample.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/chance.h"
#include "lib/cleanup.h"
#include "lib/order.h"

#define SEED        UINT64_C(0x9e3779b97f4a7c15)
#define COUNT_MIN   1e-9 /* of a bin that a draw leaves empty */
#define TAIL        0.025
#define BLUR        0.01  /* of what was unmixed: what no draw knows of, such as parts too small to be found */

int draws_init(struct draws *draws, uint32_t profiles)
{
    *draws = (struct draws){.profiles = profiles, .ops = calloc((size_t)DRAWS * profiles, sizeof(double)),
                            .bytes = calloc((size_t)DRAWS * profiles, sizeof(double))};
    return draws->ops && draws->bytes ? 0 : -ENOMEM;
}

void draws_clear(struct draws *draws)
{
    free(draws->ops);
    free(draws->bytes);
}

void draws_add_parts(struct draws *draws, const struct part *parts)
{
    for (uint32_t p = 0; p < draws->profiles; p++)
        for (unsigned d = 0; d < DRAWS; d++) {
            draws->ops[d * draws->profiles + p] += part_ops(&parts[p]);
            draws->bytes[d * draws->profiles + p] += part_bytes(&parts[p]);
        }
}

/* What draws are made from. */
struct drawing {
    struct fitting *fitting;
    const struct part *at; /* what profiles got of the data */
    double *seen;          /* the data */
    double *expected;      /* what was found, and nothing else */
    double *recipes, *amounts;
    const double *alone; /* operations of these without their companions */
    uint64_t state;
};

static void draw_counts(struct drawing *drawing, const double *mean)
{
    struct fitting *fitting = drawing->fitting;

    for (size_t g = 0; g < fitting->all_count; g++)
        fitting->observed[g] = fmax(COUNT_MIN, chance_poisson(mean[g], &drawing->state));
}

/* Puts a profile's nearest rival in its place, or back. */
static void swap_rival(struct drawing *drawing, uint32_t profile)
{
    bool *active = drawing->fitting->active, was = active[profile];

    active[profile] = active[drawing->at[profile].rival];
    active[drawing->at[profile].rival] = was;
}

static bool is_contested(const struct drawing *drawing, uint32_t profile)
{
    return drawing->fitting->active[profile] && drawing->at[profile].contested > 0;
}

/* The profile takes part in a fit of the draw: as one that was found, or as the rival of one. */
static bool is_drawn(const struct drawing *drawing, uint32_t profile)
{
    for (uint32_t p = 0; p < drawing->fitting->catalogue->count; p++)
        if (is_contested(drawing, p) && drawing->at[p].rival == profile)
            return true;
    return drawing->fitting->active[profile];
}

/* A draw of all recipes; a signature's weights add up to 1 again. Those that no fit asks for are passed over, with the
   numbers that they would have taken. */
static void vary_recipes(struct drawing *drawing)
{
    const struct catalogue *catalogue = drawing->fitting->catalogue;
    double *recipes = drawing->recipes;
    const double *weights = drawing->fitting->weights;

    for (uint32_t p = 0; p < catalogue->count; p++) {
        bool drawn = is_drawn(drawing, p);

        for (uint32_t s = 0; s < catalogue->profiles[p].signature_count; s++) {
            const struct signature *signature = &catalogue->profiles[p].signatures[s];
            double total = 0;

            for (uint32_t n = 0; drawn && n < signature->ingredient_count; n++) {
                recipes[n] = weights[n] * exp(RECIPE_SPREAD * chance_normal(&drawing->state));
                total += recipes[n];
            }
            for (uint32_t n = 0; drawn && n < signature->ingredient_count; n++)
                recipes[n] /= total;
            if (!drawn)
                chance_pass_over_normals(signature->ingredient_count, &drawing->state);
            recipes += signature->ingredient_count;
            weights += signature->ingredient_count;
        }
    }
}

/* Fits the set that was found, or the one with a rival in it that explains the draw better. */
static int fit_draw(struct drawing *drawing, uint32_t *swapped)
{
    struct fitting *fitting = drawing->fitting;
    int err = fitting_again(fitting, -INFINITY);
    double score = fitting->score;
    bool last = true;

    *swapped = UINT32_MAX;
    for (uint32_t p = 0; !err && p < fitting->catalogue->count; p++) {
        if (!is_contested(drawing, p))
            continue;
        swap_rival(drawing, p);
        err = fitting_again(fitting, score);
        swap_rival(drawing, p);
        last = !err && fitting->score > score;
        err = err == 1 ? 0 : err;
        if (last) {
            score = fitting->score;
            *swapped = p;
        }
    }
    if (*swapped != UINT32_MAX)
        swap_rival(drawing, *swapped);
    return err || last ? err : fitting_again(fitting, -INFINITY);
}

/* What goes with a profile in the data. What it was given as so little was left over is in no draw. */
static double accompanied(const struct drawing *drawing, uint32_t profile)
{
    const struct part *at = &drawing->at[profile];

    return part_ops(at) - at->given - drawing->alone[profile];
}

/* Of so many operations of a profile in a draw; it may as well be anybody's what goes with them, so any share of it. */
static double companions_of(struct drawing *drawing, uint32_t profile, double ops)
{
    double alone = drawing->alone[profile], share = chance_uniform(&drawing->state);

    return alone > 0 ? accompanied(drawing, profile) * share * fmin(1, ops / alone) : 0;
}

/* One draw for the intervals. */
static int draw_shares(struct drawing *drawing, double *ops, double *bytes)
{
    const struct fitting *fitting = drawing->fitting;
    uint32_t swapped, unknown = fitting->catalogue->count;
    double rest_ops = part_ops(&fitting->whole), rest_bytes = part_bytes(&fitting->whole);
    int err;

    draw_counts(drawing, drawing->seen);
    vary_recipes(drawing);
    err = fit_draw(drawing, &swapped);
    for (uint32_t p = 0; !err && p < unknown; p++) {
        double own = fitting->ops[p] + companions_of(drawing, p, fitting->ops[p]);

        ops[p] += own;
        bytes[p] += fitting->bytes[p];
        rest_ops -= own;
        rest_bytes -= fitting->bytes[p];
    }
    ops[unknown] += fmax(0, rest_ops);
    bytes[unknown] += fmax(0, rest_bytes);
    if (swapped != UINT32_MAX)
        swap_rival(drawing, swapped);
    return err;
}

static void add_leftover(const struct fitting *fitting, struct leftover *to)
{
    for (size_t g = 0; g < fitting->group_count; g++) {
        double left = fmax(0, fitting->observed[g] - fitting->explained[g]);

        to->ops += left;
        to->bytes += left * fitting->worth[g];
        to->all_ops += fitting->observed[g];
        to->all_bytes += fitting->observed[g] * fitting->worth[g];
    }
}

/* One draw for the residual test. */
static int draw_found(struct drawing *drawing, struct leftover *to)
{
    struct fitting *fitting = drawing->fitting;
    int err;

    memcpy(fitting->observed, drawing->seen, fitting->all_count * sizeof(double));
    vary_recipes(drawing);
    fitting->recipes = drawing->recipes;
    err = fitting_predict(fitting, drawing->expected);
    fitting->recipes = NULL;
    if (err)
        return err;
    draw_counts(drawing, drawing->expected);
    err = fitting_again(fitting, -INFINITY);
    if (!err)
        add_leftover(fitting, to);
    return err;
}

static bool has_active(const struct fitting *fitting)
{
    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        if (fitting->active[p])
            return true;
    return false;
}

static int draw_all(struct draws *draws, struct drawing *drawing)
{
    struct fitting *fitting = drawing->fitting;
    struct leftover *left = &draws->left[DRAWS];
    bool found = has_active(fitting); /* nothing leaves nothing over */
    int err = fitting_again(fitting, -INFINITY);

    add_leftover(fitting, left);
    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        left->ops = fmax(0, left->ops - accompanied(drawing, p));
    memcpy(drawing->amounts, fitting->amounts, fitting->signature_count * sizeof(double));
    for (unsigned d = 0; !err && d < DRAWS; d++) {
        memcpy(fitting->amounts, drawing->amounts, fitting->signature_count * sizeof(double));
        err = found ? draw_found(drawing, &draws->left[d]) : 0;
        fitting->recipes = drawing->recipes;
        if (!err)
            err = draw_shares(drawing, draws->ops + d * draws->profiles, draws->bytes + d * draws->profiles);
        fitting->recipes = NULL;
    }
    draws->drawn = true;
    return err;
}

int draws_add_fit(struct draws *draws, struct fitting *fitting, const struct part *at, const double *alone)
{
    _cleanup_free_ double *seen = calloc(fitting->all_count + 1, sizeof(*seen));
    _cleanup_free_ double *expected = calloc(fitting->all_count + 1, sizeof(*expected));
    _cleanup_free_ double *amounts = calloc(fitting->signature_count + 1, sizeof(*amounts));
    _cleanup_free_ double *recipes = calloc(fitting->ingredient_count + 1, sizeof(*recipes));
    struct drawing drawing = {.fitting = fitting, .at = at, .seen = seen, .expected = expected, .recipes = recipes,
                              .amounts = amounts, .alone = alone, .state = SEED};

    if (!seen || !expected || !recipes || !amounts)
        return -ENOMEM;
    memcpy(seen, fitting->observed, fitting->all_count * sizeof(*seen));
    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        fitting->active[p] = part_ops(&at[p]) > 0;
    return draw_all(draws, &drawing);
}

bool draws_interval(const struct draws *draws, bool bytes, uint32_t profile, double estimate, double *low,
                    double *high)
{
    const double *of = bytes ? draws->bytes : draws->ops;
    double sorted[DRAWS], blur = BLUR * (bytes ? draws->left[DRAWS].all_bytes : draws->left[DRAWS].all_ops);

    if (!draws->drawn || draws->undrawn)
        return false;
    for (unsigned d = 0; d < DRAWS; d++)
        sorted[d] = of[d * draws->profiles + profile];
    qsort(sorted, DRAWS, sizeof(*sorted), order_doubles);
    *low = fmax(0, fmin(estimate, sorted[(unsigned)(TAIL * DRAWS)]) - blur);
    *high = fmax(estimate, sorted[DRAWS - 1 - (unsigned)(TAIL * DRAWS)]) + blur;
    return true;
}

static double share_left(const struct leftover *left)
{
    double ops = left->all_ops > 0 ? left->ops / left->all_ops : 0;

    return left->all_bytes > 0 ? (ops + left->bytes / left->all_bytes) / 2 : ops;
}

double draws_residual(const struct draws *draws)
{
    unsigned as_much = 1;

    if (!draws->drawn || draws->undrawn)
        return NAN;
    for (unsigned d = 0; d < DRAWS; d++)
        as_much += share_left(&draws->left[d]) >= share_left(&draws->left[DRAWS]);
    return as_much / (DRAWS + 1.0);
}
