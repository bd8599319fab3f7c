/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting_margins.h"

#include <math.h>

#include "analyzer/filing.h"
#include "analyzer/fitting_groups.h"

static void add(struct fitting *fitting, struct margin *margin, double count)
{
    fitting->observed[fitting->all_count++] = count;
    margin->count++;
}

/* Reads that moved something, divided as far as it is known into those that go on and those that jump. */
static void add_order(struct fitting *fitting, const struct record *read, double reads)
{
    double goes_on = (double)read->order[ORDER_CONSECUTIVE];
    double jumps = (double)read->order[ORDER_SEQUENTIAL] + (double)read->order[ORDER_RANDOM];

    fitting->order.first = fitting->all_count;
    if (!(goes_on + jumps > 0))
        return;
    add(fitting, &fitting->order, reads * goes_on / (goes_on + jumps));
    add(fitting, &fitting->order, reads * jumps / (goes_on + jumps));
}

/* The same by how large their files are. */
static void add_files(struct fitting *fitting, const struct record *read, double reads)
{
    double known = filing_known(read);

    fitting->files.first = fitting->all_count;
    if (!(known > 0))
        return;
    for (unsigned i = 0; i < FILE_SIZES; i++)
        add(fitting, &fitting->files, reads * (double)read->file_size[i] / known);
}

/* What is read at once is of a file that has as much: of such files the bytes that were opened say which it may be. */
static void add_copied(struct fitting *fitting, const struct bin *read)
{
    double opened[FILE_SIZES] = {0}, all = 0;

    for (size_t i = 0; i < fitting->bin_count; i++) {
        const struct bin *bin = &fitting->bins[i];
        enum file_size kind = file_size_class(bucket_lower(bin->bucket));

        if (bin->op != OP_OPEN || bin->bucket < read->bucket || !(read->files >> kind & 1))
            continue;
        opened[kind] += bin->ops * bucket_middle(bin->bucket);
        all += bin->ops * bucket_middle(bin->bucket);
    }
    for (unsigned i = 0; i < FILE_SIZES; i++)
        fitting->copied[i] += all > 0 ? read->ops * opened[i] / all : 0;
}

void fitting_add_margins(struct fitting *fitting, const struct tally *tally)
{
    const struct record *read = &tally->op[OP_READ];
    double reads = (double)histogram_filled(&read->size);

    fitting->all_count = fitting->group_count;
    add_order(fitting, read, reads);
    add_files(fitting, read, reads);
    for (size_t i = 0; fitting->files.count && i < fitting->bin_count; i++)
        if (fitting->bins[i].op == OP_READ && fitting->bins[i].bucket && fitting->bins[i].match == MATCH_COPY)
            add_copied(fitting, &fitting->bins[i]);
}

/* How many of a signature's reads jump, where that was counted of each size. */
static double count_jumps(const struct fitting *fitting, const double *row)
{
    double jumps = 0;

    for (size_t g = 0; g < fitting->group_count; g++)
        if (fitting->of[g]->op == OP_READ && fitting->of[g]->order == JUMPS)
            jumps += row[g];
    return jumps;
}

/* One that does not say is as its sizes are, as a copy's never jump; where that was not counted, as the data is. */
static void spread_order(const struct fitting *fitting, const struct signature *signature, double reads, double *row)
{
    const double *observed = fitting->observed + fitting->order.first;
    double all = observed[0] + observed[1], jumps = reads * signature->jumps;

    if (isnan(signature->jumps))
        jumps = fitting->joint ? count_jumps(fitting, row) : all > 0 ? reads * observed[1] / all : 0;
    row[fitting->order.first] = reads - jumps;
    row[fitting->order.first + 1] = jumps;
}

/* Files that it opens, or, of those that it reads in more blocks the larger they are, their bytes. */
static double count_opened(const struct fitting *fitting, const struct signature *signature, double counts[FILE_SIZES])
{
    bool blocks = false;
    double all = 0;

    for (uint32_t n = 0; n < signature->ingredient_count; n++)
        blocks |= signature->ingredients[n].blocks;
    for (uint32_t n = 0; n < signature->ingredient_count; n++)
        for (size_t i = 0; i < fitting->bin_count && signature->ingredients[n].op == OP_OPEN; i++) {
            const struct bin *bin = &fitting->bins[i];
            double count = bin->ops * (blocks ? bucket_middle(bin->bucket) : 1);

            if (!bin->bucket || !fitting_holds(fitting, &signature->ingredients[n], bin))
                continue;
            counts[file_size_class(bucket_lower(bin->bucket))] += count;
            all += count;
        }
    return all;
}

static double count_copied(const struct fitting *fitting, double counts[FILE_SIZES])
{
    double all = 0;

    for (unsigned i = 0; i < FILE_SIZES; i++)
        all += counts[i] = fitting->copied[i];
    return all;
}

/* Whose files may be of several kinds reads as many of each as the data has. */
static double count_possible(const struct fitting *fitting, const struct signature *signature, double counts[FILE_SIZES])
{
    double all = 0;

    for (unsigned i = file_size_class(signature->files_lower); i <= file_size_class(signature->files_upper - 1); i++) {
        counts[i] = fitting->observed[fitting->files.first + i];
        all += counts[i];
    }
    if (!(all > 0))
        counts[file_size_class(signature->files_lower)] = all = 1;
    return all;
}

static void spread_files(const struct fitting *fitting, const struct signature *signature, double reads, double *row)
{
    double counts[FILE_SIZES] = {0};
    double all = signature->paired ? count_copied(fitting, counts) : count_opened(fitting, signature, counts);

    if (!(all > 0))
        all = count_possible(fitting, signature, counts);
    for (unsigned i = 0; i < FILE_SIZES; i++)
        row[i] = reads * counts[i] / all;
}

void fitting_spread_margins(const struct fitting *fitting, const struct signature *signature, double *row)
{
    double reads = 0;

    for (size_t g = 0; g < fitting->group_count; g++)
        if (fitting->of[g]->op == OP_READ && fitting->of[g]->bucket)
            reads += row[g];
    if (fitting->order.count)
        spread_order(fitting, signature, reads, row);
    if (fitting->files.count)
        spread_files(fitting, signature, reads, row + fitting->files.first);
}
