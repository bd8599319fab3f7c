/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/joining.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/figure.h"
#include "analyzer/filing.h"

#define KNOWN_MIN 0.9 /* of the reads of files of a kind */
#define CELLS     (2 * JOINT_KINDS)

/* Reads of one size, by kind of file; those that jump behind those that go on. */
struct cells {
    double reads[CELLS];
};

static bool is_read(const struct bin *bin)
{
    return bin->op == OP_READ && bin->outcome == OUTCOME_OK && bin->bucket;
}

/* Where it is not known of some of them, these may all be of one kind. 1, 0 or -ENOMEM. */
static int is_known(const struct record *read)
{
    double all = 0;
    struct histogram jumped;
    int known = figure_jumped(read, &jumped);

    histogram_clear(&jumped);
    for (unsigned i = 0; i < read->joint.length; i++)
        all += joint_of(read->joint.cells[i].bucket) == JOINT_ALL ? (double)read->joint.cells[i].count : 0;
    return known < 0 ? known : known && filing_known(read) > 0 && all >= KNOWN_MIN * (double)figure_sized(read);
}

/* By bucket; NULL without memory. */
static struct cells *count_cells(const struct record *read)
{
    struct cells *of = calloc(BUCKET_COUNT, sizeof(*of));

    for (unsigned i = 0; of && i < read->size.length; i++)
        of[read->size.cells[i].bucket].reads[0] = (double)read->size.cells[i].count;
    for (unsigned i = 0; of && i < read->joint.length; i++) {
        const struct histogram_cell *cell = &read->joint.cells[i];
        unsigned kind = joint_kind(cell->bucket);
        double *reads = of[joint_size(cell->bucket)].reads, count = (double)cell->count;

        if (joint_of(cell->bucket) == JOINT_ALL) {
            reads[0] = fmax(0, reads[0] - count);
            reads[kind] += count;
        } else { /* those of all reads come before */
            count = fmin(count, reads[kind]);
            reads[kind] -= count;
            reads[JOINT_KINDS + kind] += count;
        }
    }
    return of;
}

static unsigned files_of(unsigned cell)
{
    unsigned kind = cell % JOINT_KINDS;

    return kind ? 1u << (kind - 1) : FILES_ANY;
}

/* Takes of a cell what there is, and no more than *left. */
static double take(double *cell, double *left)
{
    double ops = fmin(*cell, *left);

    *cell -= ops;
    *left -= ops;
    return ops;
}

/* The reads of a bin that are of such a cell; whether matched ones go on is not asked, as they need not. */
static struct bin part_of(const struct bin *bin, unsigned cell, double ops)
{
    struct bin part = *bin;

    part.ops = ops;
    part.bytes *= ops / bin->ops;
    part.files = files_of(cell);
    if (bin->match == MATCH_NONE)
        part.order = cell < JOINT_KINDS ? GOES_ON : JUMPS;
    return part;
}

/* Whole files are as large as what is read of them, and they and copies go on sooner than they jump. */
static size_t split(const struct bin *bin, double *reads, struct bin *out)
{
    unsigned whole = 1 + file_size_class(bucket_lower(bin->bucket));
    double left = bin->ops, ops = bin->match == MATCH_FILE ? take(&reads[whole], &left) : 0;
    size_t n = 0;

    if (ops > 0)
        out[n++] = part_of(bin, whole, ops);
    for (unsigned cell = 0; cell < CELLS && left > 0; cell++) {
        ops = take(&reads[cell], &left);
        if (ops > 0)
            out[n++] = part_of(bin, cell, ops);
    }
    return n;
}

/* Bins that are alike but for their size stand together. */
static int compare(const void *a, const void *b)
{
    const struct bin *x = a, *y = b;
    const int by[] = {(int)x->op - (int)y->op,       (int)x->outcome - (int)y->outcome, (int)x->match - (int)y->match,
                      (int)x->order - (int)y->order, (int)x->files - (int)y->files,     x->bucket - y->bucket};

    for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++)
        if (by[i])
            return by[i];
    return 0;
}

static size_t split_all(const struct bin *bins, size_t count, struct cells *of, struct bin *out)
{
    static const enum match choose[MATCH_KINDS] = {MATCH_FILE, MATCH_COPY, MATCH_NONE};
    size_t n = 0, first;

    for (size_t i = 0; i < count; i++)
        if (!is_read(&bins[i]))
            out[n++] = bins[i];
    first = n;
    for (unsigned k = 0; k < MATCH_KINDS; k++)
        for (size_t i = 0; i < count; i++)
            if (is_read(&bins[i]) && bins[i].match == choose[k])
                n += split(&bins[i], of[bins[i].bucket].reads, out + n);
    qsort(out + first, n - first, sizeof(*out), compare);
    return n;
}

int joining_split(const struct tally *tally, struct bin **bins, size_t *count)
{
    const struct record *read = &tally->op[OP_READ];
    struct cells *of;
    struct bin *out;
    int known = is_known(read);

    if (known != 1)
        return known;
    of = count_cells(read);
    out = calloc((CELLS + 1) * *count + 1, sizeof(*out));
    if (!of || !out) {
        free(of);
        free(out);
        return -ENOMEM;
    }
    *count = split_all(*bins, *count, of, out);
    free(of);
    free(*bins);
    *bins = out;
    return 1;
}
