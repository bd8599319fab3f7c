/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting_rows.h"

#include <math.h>

#include "analyzer/figure.h"
#include "analyzer/filing.h"
#include "analyzer/fitting_groups.h"
#include "analyzer/fitting_margins.h"

#define JUMPS_MIN 0.6  /* of as many as a recipe says: its records may be that much larger */

/* Copies and whole files are made of what matches. What one of them claims, the others leave to it. */
static bool may_take(const struct fitting *fitting, const struct signature *signature,
                     const struct ingredient *ingredient, enum match match)
{
    if (signature->paired)
        return match == MATCH_COPY;
    if (ingredient->whole && fitting->sized_opens)
        return match == MATCH_FILE || (match == MATCH_COPY && !fitting->claimed[MATCH_COPY]);
    return !fitting->claimed[match];
}

/* Whose reads all go on does not jump, and the other way round; of runs, no size does only the one or the other. */
static bool may_start(const struct fitting *fitting, const struct signature *signature, const struct bin *bin)
{
    if (bin->op != OP_READ || (bin->order != GOES_ON && bin->order != JUMPS))
        return true;
    if (signature->runs && (bin->lone || !fitting->joint))
        return false;
    return !(signature->jumps == (bin->order == JUMPS ? 0 : 1));
}

/* Of what files it is may be known by its size. */
static bool may_read(const struct signature *signature, const struct bin *bin)
{
    return bin->op != OP_READ || !bin->bucket || bin->files & signature_files(signature);
}

/* Files that may have been copied are left to who copies, and that one opens no others. */
static bool may_open(const struct fitting *fitting, const struct signature *signature, const struct bin *bin)
{
    if (signature->paired)
        return bin->match != MATCH_BEYOND;
    return bin->op != OP_OPEN || bin->match != MATCH_COPY || !fitting->claimed[MATCH_COPY];
}

/* What a signature has to say of its files. */
struct files {
    unsigned read; /* those that it reads or maps, a bit for each kind */
    double others; /* so much of its closes is of what it writes, or of folders; and of its seeks */
    double other_seeks;
    bool told; /* its stats are of those that it reads, or of folders: of who writes that is not said */
};

static struct files files_of(const struct signature *signature)
{
    double made = 0, listings = 0, closes = 0;
    bool reads = false, writes = false;

    for (uint32_t n = 0; n < signature->ingredient_count; n++) {
        const struct ingredient *ingredient = &signature->ingredients[n];
        bool file = ingredient->op == OP_OPEN && ingredient->sized && ingredient->upper > 1;

        reads |= file || ingredient->op == OP_READ || ingredient->op == OP_MMAP_FAULT;
        writes |= ingredient->op == OP_WRITE;
        made += ingredient->op == OP_CREATE ? ingredient->weight : 0;
        listings += ingredient->op == OP_READDIR ? ingredient->weight / READDIRS : 0;
        closes += ingredient->op == OP_CLOSE ? ingredient->weight : 0;
    }
    if (!reads)
        return (struct files){.others = 1, .other_seeks = 1};
    return (struct files){.read = signature_files(signature),
                          .others = fmin(1, quotient(made + listings, closes)),
                          .other_seeks = writes ? 0.5 : 0,
                          .told = !writes};
}

static bool takes(const struct fitting *fitting, const struct signature *signature, const struct ingredient *ingredient,
                  size_t group)
{
    const struct bin *bin = fitting->of[group];
    bool transfer = (bin->op == OP_READ || bin->op == OP_WRITE) && bin->bucket; /* nothing matches nothing */

    return fitting_holds(fitting, ingredient, bin) && may_start(fitting, signature, bin) && may_read(signature, bin) &&
           may_open(fitting, signature, bin) && (!transfer || may_take(fitting, signature, ingredient, bin->match));
}

/* Spreads an ingredient over the groups that it takes; of seeks and closes, those of such files. */
static void spread_over(const struct fitting *fitting, const struct signature *signature,
                        const struct ingredient *ingredient, double weight, unsigned files, double *row)
{
    double total = 0;

    for (size_t g = 0; g < fitting->group_count; g++)
        if (takes(fitting, signature, ingredient, g) && (!bin_tells_files(fitting->of[g]) || fitting->of[g]->files & files))
            total += fitting->observed[g];
    for (size_t g = 0; total > 0 && g < fitting->group_count; g++)
        if (takes(fitting, signature, ingredient, g) && (!bin_tells_files(fitting->of[g]) || fitting->of[g]->files & files))
            row[g] += weight * fitting->observed[g] / total;
}

/* Whether it is known of an ingredient's groups of what files they are. */
static bool tells_files(const struct fitting *fitting, const struct ingredient *ingredient)
{
    for (size_t g = 0; g < fitting->group_count; g++)
        if (fitting_holds(fitting, ingredient, fitting->of[g]) && bin_tells_files(fitting->of[g]))
            return true;
    return false;
}

/* The reads of a signature's row that start so are made as many as that. */
static void scale_reads(const struct fitting *fitting, enum order_known order, double now, double then, double *row)
{
    for (size_t g = 0; now > 0 && g < fitting->group_count; g++)
        if (fitting->of[g]->op == OP_READ && fitting->of[g]->order == order)
            row[g] *= then / now;
}

/* Of a signature that jumps to some of its reads as many jump as in the data, where that was counted, and not many fewer than it
   says: who reads through a buffer jumps to each record, however many blocks that has. */
static void divide_reads(const struct fitting *fitting, const struct signature *signature, double *row)
{
    double goes_on = 0, jumps = 0, all, then;

    for (size_t g = 0; g < fitting->group_count; g++)
        if (fitting->of[g]->op == OP_READ)
            *(fitting->of[g]->order == JUMPS ? &jumps : &goes_on) += fitting->of[g]->bucket ? row[g] : 0;
    all = goes_on + jumps;
    then = fmax(jumps, JUMPS_MIN * signature->jumps * all);
    scale_reads(fitting, GOES_ON, goes_on, all - then, row);
    scale_reads(fitting, JUMPS, jumps, then, row);
}

/* How much of an ingredient of opens is of files of each kind; false if it is of none. */
static bool add_opened(const struct fitting *fitting, const struct signature *signature, const struct ingredient *ingredient,
                       double weight, double *kinds)
{
    double of[FILE_SIZES] = {0}, all = 0;

    for (size_t g = 0; g < fitting->group_count; g++) {
        const struct bin *bin = fitting->of[g];

        if (!bin->bucket || !fitting_holds(fitting, ingredient, bin) || !may_open(fitting, signature, bin))
            continue;
        of[file_size_class(bucket_lower(bin->bucket))] += fitting->observed[g];
        all += fitting->observed[g];
    }
    for (unsigned i = 0; all > 0 && i < FILE_SIZES; i++)
        kinds[i] += weight * of[i] / all;
    return all > 0;
}

/* How a signature's opens divide among kinds of files, by as many ingredients; by 0 if that is not known. */
struct opened {
    unsigned ingredients;
    double kinds[FILE_SIZES];
};

static struct opened opened_of(const struct fitting *fitting, const struct signature *signature, const double *weights)
{
    struct opened of = {0};
    double all = 0;

    for (uint32_t n = 0; fitting->sized_opens && n < signature->ingredient_count; n++)
        if (signature->ingredients[n].op == OP_OPEN)
            of.ingredients += add_opened(fitting, signature, &signature->ingredients[n], weights[n], of.kinds);
    for (unsigned i = 0; i < FILE_SIZES; i++)
        all += of.kinds[i];
    for (unsigned i = 0; i < FILE_SIZES && of.ingredients; i++)
        of.kinds[i] /= all;
    return of;
}

/* All files that are opened are closed; where they are of several kinds, it may be one of these that is sought in. */
static void spread_by_files(const struct fitting *fitting, const struct signature *signature, const struct opened *opened,
                            const struct ingredient *ingredient, double weight, unsigned files, double *row)
{
    if (opened->ingredients == 1 || (opened->ingredients && ingredient->op != OP_SEEK))
        for (unsigned i = 0; i < FILE_SIZES; i++)
            spread_over(fitting, signature, ingredient, weight * opened->kinds[i], 1u << i, row);
    else
        spread_over(fitting, signature, ingredient, weight, files, row);
}

/* Whether it is known of what files an ingredient is, and the signature says so. */
static bool is_of_files(const struct fitting *fitting, const struct files *files, const struct ingredient *ingredient)
{
    return tells_files(fitting, ingredient) &&
           (ingredient->op != OP_STAT || (files->told && ingredient->of != STAT_OF_FOLDER));
}

void fitting_spread(const struct fitting *fitting, const struct signature *signature, size_t first, double *row)
{
    const double *weights = (fitting->recipes ? fitting->recipes : fitting->weights) + first;
    const struct files files = files_of(signature);
    const struct opened opened = opened_of(fitting, signature, weights);

    for (uint32_t n = 0; n < signature->ingredient_count; n++) {
        const struct ingredient *ingredient = &signature->ingredients[n];
        bool by_name = ingredient->op == OP_STAT && ingredient->of != STAT_OF_OPEN;
        double others = ingredient->op == OP_SEEK ? files.other_seeks : by_name ? 0 : files.others;

        if (is_of_files(fitting, &files, ingredient)) {
            spread_by_files(fitting, signature, &opened, ingredient, weights[n] * (1 - others), files.read, row);
            spread_over(fitting, signature, ingredient, weights[n] * others, FILES_OTHERS, row);
        } else {
            spread_over(fitting, signature, ingredient, weights[n], FILES_UNKNOWN, row);
        }
    }
    if (fitting->joint && signature->jumps > 0 && signature->jumps < 1)
        divide_reads(fitting, signature, row);
    fitting_spread_margins(fitting, signature, row);
}
