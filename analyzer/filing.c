/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/filing.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/modes.h"

#define KNOWN_MIN 0.9 /* of all reads */
#define FEW       10  /* reads of files of a kind: they may be of any size */
#define CLEAR     0.2 /* how far a kind's reads may be from the sizes that are its own, of themselves */

static bool is_read(const struct bin *bin)
{
    return bin->op == OP_READ && bin->outcome == OUTCOME_OK && bin->bucket;
}

/* Those of a whole file are known by their size. */
static bool is_piece(const struct bin *bin)
{
    return is_read(bin) && bin->match != MATCH_FILE;
}

/* Files that have as much as a read of that size. */
static unsigned files_of(unsigned bucket)
{
    return FILES_ANY & FILES_ANY << file_size_class(bucket_lower(bucket));
}

/* What was counted, and what of it can be told. */
struct filing {
    struct modes modes;
    double counted[FILE_SIZES];         /* reads that are pieces of such files */
    double least[MODES + 1][FILE_SIZES]; /* the least misfit with this mode of such files */
    unsigned kinds[MODES + 1];           /* the mode that is tried: of which files it may be */
};

/* How many reads of each kind are missing, when the modes are of these: what is too much elsewhere, or may be of files that
   nobody knows. */
static double misfit(const struct filing *filing, const unsigned *kind)
{
    double missing[FILE_SIZES], sum = 0;

    memcpy(missing, filing->counted, sizeof(missing));
    for (unsigned i = 0; i <= filing->modes.count; i++)
        missing[kind[i]] -= filing->modes.reads[i];
    for (unsigned c = 0; c < FILE_SIZES; c++)
        sum += fmax(0, missing[c]);
    return sum;
}

/* Tries all that the modes may be. */
static double find_least(struct filing *filing)
{
    unsigned kind[MODES + 1] = {0}, count = filing->modes.count + 1, at = 0;
    double best = INFINITY;

    for (unsigned i = 0; i < count; i++)
        for (unsigned c = 0; c < FILE_SIZES; c++)
            filing->least[i][c] = INFINITY;
    while (at < count) {
        bool possible = true;

        for (unsigned i = 0; i < count; i++)
            possible &= filing->kinds[i] >> kind[i] & 1;
        if (possible) {
            double off = misfit(filing, kind);

            best = fmin(best, off);
            for (unsigned i = 0; i < count; i++)
                filing->least[i][kind[i]] = fmin(filing->least[i][kind[i]], off);
        }
        for (at = 0; at < count && ++kind[at] == FILE_SIZES; at++)
            kind[at] = 0;
    }
    return best;
}

/* How far what is best may be from what was counted: less than what would not be found then. */
static double misfit_max(const struct filing *filing)
{
    double most = MODES_MISFIT_MAX * filing->modes.all;

    for (unsigned c = 0; c < FILE_SIZES; c++)
        if (filing->counted[c] >= FEW)
            most = fmin(most, CLEAR * filing->counted[c]);
    return most;
}

static unsigned decide(const struct filing *filing, unsigned mode)
{
    const double *least = filing->least[mode];
    unsigned files = 0;
    double best = INFINITY;

    for (unsigned c = 0; c < FILE_SIZES; c++)
        best = fmin(best, least[c]);
    for (unsigned c = 0; c < FILE_SIZES; c++)
        if (!modes_is_unlikely(least[c], best) || (filing->counted[c] > 0 && filing->counted[c] < FEW))
            files |= 1u << c;
    return files;
}

double filing_known(const struct record *read)
{
    double known = (double)figure_sized(read);

    return known >= KNOWN_MIN * (double)histogram_filled(&read->size) ? known : 0;
}

void filing_note(const struct tally *tally, struct bin *bins, size_t count)
{
    const struct record *read = &tally->op[OP_READ];
    struct filing filing = {0};

    for (size_t i = 0; i < count; i++)
        if (bins[i].op == OP_READ)
            bins[i].files = FILES_ANY;
    if (filing_known(read) < MODES_READS_MIN)
        return;
    for (unsigned c = 0; c < FILE_SIZES; c++)
        filing.counted[c] = (double)read->file_size[c];
    for (size_t i = 0; i < count; i++)
        if (is_read(&bins[i])) {
            enum file_size whole = file_size_class(bucket_lower(bins[i].bucket));

            bins[i].files = is_piece(&bins[i]) ? files_of(bins[i].bucket) : 1u << whole;
            if (!is_piece(&bins[i]))
                filing.counted[whole] = fmax(0, filing.counted[whole] - bins[i].ops);
        }
    modes_find(bins, count, is_piece, &filing.modes);
    if (filing.modes.all < MODES_READS_MIN)
        return;
    for (unsigned i = 0; i < filing.modes.count; i++)
        filing.kinds[i] = files_of(filing.modes.bucket[i]);
    filing.kinds[filing.modes.count] = FILES_ANY;
    if (find_least(&filing) > misfit_max(&filing))
        return;
    for (size_t i = 0; i < count; i++)
        if (is_piece(&bins[i])) {
            unsigned files = bins[i].files & decide(&filing, modes_of(&filing.modes, bins[i].bucket));

            bins[i].files = files ? files : bins[i].files;
        }
}
