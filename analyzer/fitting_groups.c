/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting_groups.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/figure.h"
#include "analyzer/filing.h"
#include "analyzer/fitting_margins.h"

#define SCALE_MAX 32.0 /* a recipe's blocks may be so many times more, or less, in files of other sizes */

bool fitting_in_range(const struct ingredient *ingredient, const struct bin *bin)
{
    return bucket_lower(bin->bucket) >= ingredient->lower && bucket_lower(bin->bucket) < ingredient->upper;
}

/* Opens have the size of what they open, where that was recorded. */
bool fitting_holds(const struct fitting *fitting, const struct ingredient *ingredient, const struct bin *bin)
{
    if (ingredient->op != bin->op || !ingredient->ends[bin->outcome])
        return false;
    if (ingredient->of && bin->order && (ingredient->of == STAT_OF_OPEN) != (bin->order == OF_OPEN))
        return false;
    if (ingredient->of == STAT_OF_FOLDER && bin->files && !(bin->files & FILES_OTHERS))
        return false;
    return !ingredient->sized || (bin->op == OP_OPEN && !fitting->sized_opens) || fitting_in_range(ingredient, bin);
}

static bool are_alike(const struct fitting *fitting, const struct bin *a, const struct bin *b)
{
    const struct catalogue *catalogue = fitting->catalogue;

    if (a->op != b->op || a->outcome != b->outcome || a->match != b->match || a->twin != b->twin || a->order != b->order ||
        a->lone != b->lone || a->files != b->files)
        return false;
    for (uint32_t p = 0; p < catalogue->count; p++)
        for (uint32_t s = 0; s < catalogue->profiles[p].signature_count; s++) {
            const struct signature *signature = &catalogue->profiles[p].signatures[s];

            for (uint32_t n = 0; n < signature->ingredient_count; n++)
                if (fitting_holds(fitting, &signature->ingredients[n], a) !=
                    fitting_holds(fitting, &signature->ingredients[n], b))
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
    fitting->observed = calloc(count + MARGINS_MAX + 1, sizeof(*fitting->observed));
    if (!fitting->group || !fitting->of || !fitting->observed)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct bin *bin = &fitting->bins[i];
        size_t last = fitting->group_count - 1;

        if (!i || !are_alike(fitting, bin, fitting->of[last])) {
            last = fitting->group_count++;
            fitting->of[last] = bin;
        }
        fitting->group[i] = last;
        fitting->observed[last] += bin->ops;
    }
    return 0;
}

int fitting_group(struct fitting *fitting, const struct tally *tally)
{
    int err = make_groups(fitting);

    if (!err)
        fitting_add_margins(fitting, tally);
    return err;
}

/* Operations, and their bytes; of opens, those of the files. */
struct held {
    double ops, bytes;
};

static void add_held(const struct fitting *fitting, const struct ingredient *ingredient, struct held *held)
{
    for (size_t i = 0; i < fitting->bin_count; i++) {
        const struct bin *bin = &fitting->bins[i];

        if (!bin->bucket || !fitting_holds(fitting, ingredient, bin))
            continue;
        held->ops += bin->ops;
        held->bytes += bin->op == OP_OPEN ? bin->ops * bucket_middle(bin->bucket) : bin->bytes;
    }
}

/* How many blocks the signature's files have, to how many it says. */
static double scale_of(const struct fitting *fitting, const struct signature *signature, const struct ingredient *blocks)
{
    struct held files = {0}, reads = {0};
    double opens = 0, scale;

    for (uint32_t n = 0; n < signature->ingredient_count; n++)
        if (signature->ingredients[n].op == OP_OPEN) {
            add_held(fitting, &signature->ingredients[n], &files);
            opens += signature->ingredients[n].weight;
        }
    add_held(fitting, blocks, &reads);
    scale = quotient(files.bytes, files.ops) / quotient(reads.bytes, reads.ops) * opens / blocks->weight;
    return isnan(scale) ? 1 : fmin(SCALE_MAX, fmax(1 / SCALE_MAX, scale));
}

static void weigh(const struct fitting *fitting, const struct signature *signature, double *weights)
{
    double total = 0;

    for (uint32_t n = 0; n < signature->ingredient_count; n++) {
        const struct ingredient *ingredient = &signature->ingredients[n];

        weights[n] = ingredient->weight;
        if (ingredient->blocks && fitting->sized_opens)
            weights[n] *= scale_of(fitting, signature, ingredient);
        total += weights[n];
    }
    for (uint32_t n = 0; n < signature->ingredient_count; n++)
        weights[n] /= total;
}

int fitting_weigh(struct fitting *fitting)
{
    double *weights = fitting->weights = calloc(fitting->ingredient_count + 1, sizeof(*weights));

    if (!weights)
        return -ENOMEM;
    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        for (uint32_t s = 0; s < fitting->catalogue->profiles[p].signature_count; s++) {
            const struct signature *signature = &fitting->catalogue->profiles[p].signatures[s];

            weigh(fitting, signature, weights);
            weights += signature->ingredient_count;
        }
    return 0;
}
