/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting_unmix.h"

#include <string.h>

#include "analyzer/unmix.h"

#define PAIR_WORTH  0.3 /* nats a transfer, */
#define TWIN_WORTH  4   /* times that, where nearly all of a size are pairs, */
#define LARGE_WORTH 20  /* and this, where they are so large that they fill no buffer whose size many programs share */
#define LARGE       (1u << 20)

size_t fitting_each_signature(const struct fitting *fitting, uint32_t only, fitting_each *each, void *context)
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

void fitting_note_claims(struct fitting *fitting, uint32_t only)
{
    memset(fitting->claimed, 0, sizeof(fitting->claimed));
    fitting_each_signature(fitting, only, claim, fitting->claimed);
}

static double worth_of(const struct bin *bin)
{
    if (!bin->twin)
        return 1;
    return bucket_lower(bin->bucket) < LARGE ? TWIN_WORTH : LARGE_WORTH;
}

/* What pairs are worth more than so many single ones. */
static double pairs_in(const struct fitting *fitting, const double *groups)
{
    double pairs = 0;

    for (size_t g = 0; g < fitting->group_count; g++)
        if (fitting->of[g]->match == MATCH_COPY && fitting->of[g]->op != OP_OPEN)
            pairs += groups[g] * worth_of(fitting->of[g]);
    return PAIR_WORTH * pairs;
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
        *to->score += pairs_in(fitting, to->parts + k * fitting->all_count);
}

int fitting_unmix(const struct fitting *fitting, uint32_t only, double tolerance, double floor, const struct unmixed *of,
                  double *score)
{
    const struct unmixing unmixing = {fitting->observed, fitting->all_count, fitting->group_count, of->rows, of->count};
    double worth = fitting->claimed[MATCH_COPY] ? pairs_in(fitting, fitting->observed) : 0;
    int err = unmix(&unmixing, tolerance, floor - worth, of->amounts, of->parts, score);

    if (!err && worth > 0)
        fitting_each_signature(fitting, only, add_pairs, &(struct scoring){of->parts, score});
    return err;
}
