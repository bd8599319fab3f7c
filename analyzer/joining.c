/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/joining.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/filing.h"
#include "lib/order.h"

#define KNOWN_MIN 0.9 /* of the reads of files of a kind */
#define RUN_MAX   8   /* reads that go on, for each of their size that jumps */
#define CELLS     (2 * JOINT_KINDS)

/* Transfers of one size, by kind of file; those that jump behind those that go on. */
struct cells {
    double ops[CELLS];
};

/* By bucket; NULL without memory. */
static struct cells *count_cells(const struct record *record)
{
    struct cells *of = calloc(BUCKET_COUNT, sizeof(*of));

    for (unsigned i = 0; of && i < record->size.length; i++)
        of[record->size.cells[i].bucket].ops[0] = (double)record->size.cells[i].count;
    for (unsigned i = 0; of && i < record->joint.length; i++) {
        const struct histogram_cell *cell = &record->joint.cells[i];
        unsigned kind = joint_kind(cell->bucket);
        double *ops = of[joint_size(cell->bucket)].ops, count = (double)cell->count;

        if (joint_of(cell->bucket) == JOINT_ALL) {
            ops[0] = fmax(0, ops[0] - count);
            ops[kind] += count;
        } else { /* those of all come before */
            count = fmin(count, ops[kind]);
            ops[kind] -= count;
            ops[JOINT_KINDS + kind] += count;
        }
    }
    return of;
}

/* Where it is not known of some of them, these may all be of one kind. 1, 0 or -ENOMEM. */
static int is_known(const struct record *record)
{
    struct histogram jumped;
    int known = figure_jumped(record, &jumped);
    double all = 0;

    histogram_clear(&jumped);
    if (known != 1 || record->op == OP_WRITE)
        return known;
    for (unsigned i = 0; i < record->joint.length; i++)
        if (joint_of(record->joint.cells[i].bucket) == JOINT_ALL && joint_size(record->joint.cells[i].bucket))
            all += (double)record->joint.cells[i].count;
    return filing_known(record) > 0 && all >= KNOWN_MIN * (double)figure_sized(record);
}

static unsigned files_of(const struct bin *bin, unsigned cell)
{
    unsigned kind = cell % JOINT_KINDS;

    return bin->op != OP_READ ? 0 : kind ? 1u << (kind - 1) : FILES_ANY;
}

/* Appends so many of a bin's operations. */
static size_t append(struct bin *out, size_t n, const struct bin *bin, double ops)
{
    if (!(ops > 0))
        return n;
    out[n] = *bin;
    out[n].ops = ops;
    out[n].bytes *= ops / bin->ops;
    return n + 1;
}

/* Those that moved nothing are of files, too, and do not start anywhere. */
static size_t split_empty(const struct bin *bin, const struct cells *of, struct bin *out)
{
    double all = 0;
    size_t n = 0;

    for (unsigned kind = 0; kind < JOINT_KINDS; kind++)
        all += of->ops[kind];
    if (!(all > 0))
        return append(out, n, bin, bin->ops);
    for (unsigned kind = 0; kind < JOINT_KINDS; kind++) {
        struct bin part = *bin;

        part.files = kind ? 1u << (kind - 1) : of->ops[0] < all ? FILES_OTHERS : 0;
        n = append(out, n, &part, bin->ops * of->ops[kind] / all);
    }
    return n;
}

/* Of what goes on, as much may follow what jumps as a run of that is long; all the rest is somebody's who does not jump to that
   size, mostly. */
static size_t split(const struct bin *bin, const struct cells *of, struct bin *out)
{
    double all = 0;
    size_t n = 0;

    for (unsigned cell = 0; cell < CELLS; cell++)
        all += of->ops[cell];
    for (unsigned cell = 0; cell < CELLS; cell++) {
        bool jumps = cell >= JOINT_KINDS;
        double share = bin->ops / all, run = INFINITY;
        struct bin part = *bin;

        part.files = files_of(bin, cell);
        part.order = jumps ? JUMPS : GOES_ON;
        if (bin->op == OP_READ && !jumps)
            run = RUN_MAX * of->ops[JOINT_KINDS + cell];
        n = append(out, n, &part, share * fmin(of->ops[cell], run));
        part.lone = true;
        n = append(out, n, &part, share * fmax(0, of->ops[cell] - run));
    }
    return n;
}

/* Bins that are alike but for their size stand together. */
static int compare(const void *a, const void *b)
{
    const struct bin *x = a, *y = b;

    return ORDER(x->order, y->order) ?: ORDER(x->lone, y->lone) ?: ORDER(x->files, y->files) ?: ORDER(x->bucket, y->bucket);
}

/* Splits the transfers of one kind among so many bins; *out has room. Returns how many there are then; 0 without memory. */
static size_t split_all(const struct record *record, const struct bin *bins, size_t count, struct bin *out)
{
    struct cells *of = count_cells(record);
    size_t n = 0;

    for (size_t i = 0; of && i < count; i++)
        if (bins[i].op != record->op || bins[i].outcome != OUTCOME_OK)
            out[n++] = bins[i];
        else if (bins[i].bucket)
            n += split(&bins[i], &of[bins[i].bucket], out + n);
        else
            n += split_empty(&bins[i], &of[0], out + n);
    free(of);
    return n;
}

/* The bins of an operation, split if that was counted. 1, 0 or -ENOMEM. */
static int take(const struct tally *tally, const struct bin *bins, size_t count, struct bin *out, size_t *n)
{
    struct record record = tally->op[bins->op];
    bool transfer = bins->op == OP_READ || bins->op == OP_WRITE;
    int known;

    record.op = bins->op;
    known = transfer ? is_known(&record) : 0;
    if (known < 0)
        return known;
    if (!known) {
        memcpy(out, bins, count * sizeof(*out));
        *n = count;
        return 0;
    }
    *n = split_all(&record, bins, count, out);
    qsort(out, *n, sizeof(*out), compare);
    return *n ? 1 : -ENOMEM;
}

int joining_split(const struct tally *tally, struct bin **bins, size_t *count)
{
    struct bin *out = calloc((CELLS + JOINT_KINDS) * *count + 1, sizeof(*out));
    size_t n = 0, more;
    int reads = 0;

    if (!out)
        return -ENOMEM;
    for (size_t first = 0, end = 0; first < *count; first = end, n += more) {
        int known;

        while (end < *count && (*bins)[end].op == (*bins)[first].op)
            end++;
        known = take(tally, *bins + first, end - first, out + n, &more);
        if (known < 0) {
            free(out);
            return known;
        }
        reads = (*bins)[first].op == OP_READ ? known : reads;
    }
    free(*bins);
    *bins = out;
    *count = n;
    return reads;
}
