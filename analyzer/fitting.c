/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fitting.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/filing.h"
#include "analyzer/fitting_bounds.h"
#include "analyzer/fitting_groups.h"
#include "analyzer/fitting_parts.h"
#include "analyzer/fitting_possible.h"
#include "analyzer/joining.h"
#include "analyzer/matching.h"
#include "analyzer/ordering.h"

#define REOPENED 0.5 /* opens of large files to each read that jumps */

static void count_signatures(struct fitting *fitting)
{
    const struct catalogue *catalogue = fitting->catalogue;

    for (uint32_t p = 0; p < catalogue->count; p++)
        for (uint32_t s = 0; s < catalogue->profiles[p].signature_count; s++, fitting->signature_count++)
            fitting->ingredient_count += catalogue->profiles[p].signatures[s].ingredient_count;
}

static void make_worth(struct fitting *fitting)
{
    for (size_t i = 0; i < fitting->bin_count; i++)
        fitting->worth[fitting->group[i]] += fitting->bins[i].bytes;
    for (size_t g = 0; g < fitting->group_count; g++) {
        fitting->worth[g] /= fitting->observed[g];
        fitting->counted[g] = fitting->observed[g];
    }
}

/* Bytes of small files that were opened, but for what may have been mapped of them, as each page fault maps some pages;
   at least what was read of files at once. */
static double samples_of(const struct fitting *fitting, double fault_bytes)
{
    double opened = 0, whole = 0, mapped = fault_bytes + FAULT_AROUND * fitting->context.minors;

    for (size_t i = 0; i < fitting->bin_count; i++) {
        const struct bin *bin = &fitting->bins[i];

        if (file_size_class(bucket_lower(bin->bucket)) == FILE_LARGE)
            continue;
        opened += bin->op == OP_OPEN ? bin->ops * bucket_middle(bin->bucket) : 0;
        whole += bin->match == MATCH_FILE ? bin->bytes : 0;
    }
    return fitting->sized_opens ? fmax(opened - mapped, whole) : NAN;
}

static void note_impossible(struct fitting *fitting)
{
    size_t s = 0;

    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        for (uint32_t n = 0; n < fitting->catalogue->profiles[p].signature_count; n++, s++) {
            const struct signature *signature = &fitting->catalogue->profiles[p].signatures[n];

            fitting->impossible[s] = !fitting_is_possible(fitting, signature) || !fitting_suits_whole(fitting, signature);
        }
}

/* A large file is opened for each record of it: then no read goes back to one that was read before in it. */
static bool is_reopened(const struct tally *tally)
{
    const struct record *read = &tally->op[OP_READ];
    double jumps = (double)read->order[ORDER_RANDOM] + (double)read->order[ORDER_SEQUENTIAL];

    return jumps > 0 && figure_opens_from(&tally->op[OP_OPEN].size, FILE_LARGE_MIN) >= REOPENED * jumps;
}

int fitting_init(struct fitting *fitting, const struct catalogue *catalogue, const struct tally *tally,
                 const struct concert *concert, const struct peers *process)
{
    int err;

    *fitting = (struct fitting){.catalogue = catalogue};
    fitting->sized_opens = tally->op[OP_OPEN].size.length > 0;
    err = bins_of(tally, &fitting->bins, &fitting->bin_count);
    if (!err)
        err = joining_split(tally, &fitting->bins, &fitting->bin_count);
    fitting->joint = err == 1;
    if (err >= 0)
        err = matching_split(&fitting->bins, &fitting->bin_count, concert);
    if (!err && !fitting->joint) {
        ordering_note(tally, fitting->bins, fitting->bin_count);
        filing_note(tally, fitting->bins, fitting->bin_count);
    }
    if (!err)
        err = fitting_group(fitting, tally);
    if (err)
        return err;
    count_signatures(fitting);
    err = fitting_weigh(fitting);
    if (err)
        return err;
    fitting->context = (struct feature_context){
        .process = process,
        .missing = figure_missing(&tally->op[OP_STAT]),
        .minors = (double)tally->op[OP_MMAP_FAULT].faults[FAULT_MINOR],
        .fault_writes = figure_fault_writes(&tally->op[OP_MMAP_FAULT]),
        .bytes_per_fault_write = figure_bytes_per_fault_write(&tally->op[OP_MMAP_FAULT]),
        .peers = process ? process->exact : 0,
        .files = process && process->files > 0 ? process->files : INFINITY,
        .unwritten_syncs = process ? fmax(process->unwritten_syncs, figure_unwritten_syncs(tally)) : NAN,
        .unpacked = process ? fmax(process->unpacked, figure_unpacked(tally)) : NAN,
        .jumps = figure_jumps(&tally->op[OP_READ]),
        .write_jumps = figure_jumps(&tally->op[OP_WRITE]),
        .returns = process && is_reopened(tally) ? 1 : figure_returns(&tally->op[OP_READ]),
        .received = figure_received(&tally->op[OP_WRITE]),
    };
    fitting->context.samples = samples_of(fitting, (double)tally->op[OP_MMAP_FAULT].bytes);
    fitting->active = calloc(catalogue->count + 1, sizeof(bool));
    fitting->at = calloc(catalogue->count + 1, sizeof(struct part));
    fitting->impossible = calloc(fitting->signature_count + 1, sizeof(bool));
    fitting->refused = calloc(fitting->signature_count + 1, sizeof(bool));
    fitting->by = calloc(fitting->signature_count + 1, sizeof(struct part));
    fitting->chosen = calloc(fitting->signature_count + 1, sizeof(bool));
    fitting->amounts = calloc(fitting->signature_count + 1, sizeof(double));
    fitting->explained = calloc(fitting->all_count + 1, sizeof(double));
    fitting->worth = calloc(fitting->group_count + 1, sizeof(double));
    fitting->counted = calloc(fitting->group_count + 1, sizeof(double));
    fitting->ops = calloc(catalogue->count + 1, sizeof(double));
    fitting->bytes = calloc(catalogue->count + 1, sizeof(double));
    if (!fitting->active || !fitting->at || !fitting->impossible || !fitting->refused || !fitting->by ||
        !fitting->chosen || !fitting->amounts || !fitting->explained || !fitting->worth || !fitting->counted || !fitting->ops ||
        !fitting->bytes)
        return -ENOMEM;
    make_worth(fitting);
    for (size_t i = 0; i < fitting->bin_count; i++)
        part_add_bin(&fitting->whole, &fitting->bins[i], fitting->bins[i].ops);
    note_impossible(fitting);
    return 0;
}

void fitting_clear(struct fitting *fitting)
{
    free(fitting->bins);
    free(fitting->group);
    free(fitting->weights);
    free(fitting->of);
    free(fitting->observed);
    free(fitting->active);
    free(fitting->impossible);
    free(fitting->refused);
    free(fitting->chosen);
    fit_memory_clear(&fitting->memory);
    free(fitting->by);
    free(fitting->amounts);
    free(fitting->explained);
    free(fitting->worth);
    free(fitting->counted);
    free(fitting->ops);
    free(fitting->bytes);
    free(fitting->at);
}

/* Operations of a part, as far as it is unlike its signatures. */
static double unlike_ops(const struct part *part)
{
    return part_ops(part) - part->fit;
}

/* Refuses, of the signatures that break a bound of their own, the one that what it took is most unlike: what the others
   have then may keep theirs. True if there was one. */
static bool refuse_signature(struct fitting *fitting)
{
    const struct catalogue *catalogue = fitting->catalogue;
    size_t s = 0, worst = SIZE_MAX;
    double most = -1;

    for (uint32_t p = 0; p < catalogue->count; p++)
        for (uint32_t n = 0; n < catalogue->profiles[p].signature_count; n++, s++) {
            const struct part *part = &fitting->by[s];
            double ops = fitting->chosen[s] ? part_ops(part) : 0, unlike = ops - part->fit;

            if (ops > 0 && unlike > most &&
                !(fitting_requirements(fitting, &catalogue->profiles[p], &catalogue->profiles[p].signatures[n], part) > 0)) {
                worst = s;
                most = unlike;
            }
        }
    if (worst != SIZE_MAX)
        fitting->refused[worst] = true;
    return worst != SIZE_MAX;
}

int fitting_fit(struct fitting *fitting)
{
    return fitting_fit_above(fitting, -INFINITY);
}

int fitting_fit_above(struct fitting *fitting, double floor)
{
    int err;

    memcpy(fitting->refused, fitting->impossible, fitting->signature_count * sizeof(bool));
    do
        err = fitting_parts(fitting, UINT32_MAX, floor);
    while (!err && refuse_signature(fitting));
    return err;
}

/* Of a profile's signatures, the one that has most by that measure; SIZE_MAX where none has any. *count is how many have. */
static size_t find_most(const struct fitting *fitting, uint32_t profile, double (*measure)(const struct part *part),
                        uint32_t *count)
{
    const struct profile *profiles = fitting->catalogue->profiles;
    size_t s = 0, found = SIZE_MAX;
    double most = 0;

    *count = 0;
    for (uint32_t p = 0; p < profile; p++)
        s += profiles[p].signature_count;
    for (uint32_t n = 0; n < profiles[profile].signature_count; n++, s++) {
        double value = measure(&fitting->by[s]);

        *count += value > 0;
        if (value > most) {
            most = value;
            found = s;
        }
    }
    return found;
}

bool fitting_drop_unlike(struct fitting *fitting, uint32_t profile)
{
    uint32_t count;
    size_t worst = find_most(fitting, profile, unlike_ops, &count);

    if (count)
        fitting->impossible[worst] = true;
    return count > 0;
}

bool fitting_drop_largest(struct fitting *fitting, uint32_t profile)
{
    uint32_t count;
    size_t largest = find_most(fitting, profile, part_ops, &count);

    if (count > 1)
        fitting->impossible[largest] = true;
    return count > 1;
}

int fitting_fit_one(struct fitting *fitting, uint32_t profile)
{
    return fitting_parts(fitting, profile, -INFINITY);
}
