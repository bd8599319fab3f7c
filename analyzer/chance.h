/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers drawn by chance: the same ones for the same state, which begins as any number and is moved on by each draw. */
#ifndef UNBLEND_ANALYZER_CHANCE_H
#define UNBLEND_ANALYZER_CHANCE_H

#include <stdint.h>

/* In (0, 1): SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014). */
double chance_uniform(uint64_t *state);
/* Of mean 0 and variance 1 (Box, Muller 1958). */
double chance_normal(uint64_t *state);
/* As if so many of these had been drawn. */
void chance_pass_over_normals(uint64_t count, uint64_t *state);
/* Knuth's products for few, a normal distribution for many. */
double chance_poisson(double mean, uint64_t *state);

#endif
