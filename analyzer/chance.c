/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/chance.h"

#include <math.h>

#define STEP           UINT64_C(0x9e3779b97f4a7c15) /* of the state, for each uniform number */
#define NORMAL_NUMBERS 2                            /* that a normal one is made of */
#define POISSON_FEW    30 /* below, a normal distribution is too far off */

double chance_uniform(uint64_t *state)
{
    uint64_t z = *state += STEP;

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

double chance_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(chance_uniform(state)));

    return radius * cos(2 * M_PI * chance_uniform(state));
}

void chance_pass_over_normals(uint64_t count, uint64_t *state)
{
    *state += count * NORMAL_NUMBERS * STEP;
}

double chance_poisson(double mean, uint64_t *state)
{
    double limit = exp(-mean), product = 1, count = -1;

    if (mean >= POISSON_FEW)
        return fmax(0, round(mean + sqrt(mean) * chance_normal(state)));
    do {
        product *= chance_uniform(state);
        count++;
    } while (product > limit);
    return count;
}
