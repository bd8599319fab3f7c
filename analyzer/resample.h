/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How sure the shares of unmixed sums are, and whether what is left over of them means anything: two bootstraps of
 * DRAWS draws each (Efron, Tibshirani, An Introduction to the Bootstrap, 1993), from a seed of their own, so that the
 * same sum has the same answer.
 *
 * Intervals: counts are drawn anew (Poisson), the catalogue's recipes, too (each weight times exp(RECIPE_SPREAD z), z
 * normal: no library keeps exactly to a recipe), and in each draw a profile and its nearest rival compete for their
 * place; what goes with a profile is drawn to be any share of what it got. The interval is the draws' 2.5 and 97.5 %
 * quantiles, and the estimate, and a hundredth of what was unmixed on both sides: so wide that it holds the truth of
 * nineteen of twenty components that were found in blends of three programs (truth blends; of 81 in 100 where nobody had
 * tried the programs before).
 *
 * Residual test: data is drawn of what was found and of nothing else, with recipes that vary as above, and unmixed by
 * the catalogue; p is the share of draws that leave as much over (a parametric bootstrap test, Davison, Hinkley,
 * Bootstrap Methods and their Application, 1997, 4.2; what is left over is the mean of its shares of operations and of
 * bytes; companions are not left over).
 */
#ifndef UNBLEND_ANALYZER_RESAMPLE_H
#define UNBLEND_ANALYZER_RESAMPLE_H

#include "analyzer/fitting.h"

#define DRAWS         199 /* p is a whole number of two hundredths */
/* So wide that the test finds too much left over in one of twenty blends of three known programs (truth blends: in 5 of
   100, and in 14 of 22 with an unknown one in it; with 1.0 in 11 of 100, with 0.5 in 70). */
#define RECIPE_SPREAD 1.5

/* Sums of draws, over the sums of a job. */
struct draws {
    uint32_t profiles;   /* with unknown, the last */
    double *ops, *bytes; /* [DRAWS][profiles] */
    struct leftover {
        double ops, bytes, all_ops, all_bytes;
    } left[DRAWS + 1]; /* the last is of the data, the others are of draws with nothing left over but by chance */
    bool drawn, undrawn; /* there was a sum that was drawn; there was one that was not, and is not small */
};

/* 0 or -ENOMEM; draws_clear() is due in both cases. */
int draws_init(struct draws *draws, uint32_t profiles);
void draws_clear(struct draws *draws);

/* Adds parts[profiles] that are the same in each draw, such as those of processes. */
void draws_add_parts(struct draws *draws, const struct part *parts);

/* Draws from a fit, of which the profiles were named that have a part: at[profiles - 1], with their companions, and
   alone[profiles - 1] operations without. Spoils the fit. 0 or -ENOMEM. */
int draws_add_fit(struct draws *draws, struct fitting *fitting, const struct part *at, const double *alone);

/* The interval of a profile's operations (or bytes), with the estimate in it. False where there is none: no sum, or
   one that is not small and was not drawn. */
bool draws_interval(const struct draws *draws, bool bytes, uint32_t profile, double estimate, double *low,
                    double *high);

/* p of the residual test; NAN where there is no interval. */
double draws_residual(const struct draws *draws);

#endif
