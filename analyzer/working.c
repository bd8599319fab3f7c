/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/working.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIN_S    600
#define SECOND   1000000000LL
#define BINS_MAX (7 * 86400 / BIN_S + 2)

#define GROWN_MAX 0.1 /* of a set's bytes, and how often these were read is known still */

static const uint32_t windows[WORKING_WINDOWS] = {3600, 86400, 7 * 86400};

/* The bin of ten minutes; NULL for one long before the others, which no window holds any more, or without memory. */
static struct working_bin *bin_at(struct working *working, int64_t number)
{
    int64_t known = working->first + working->length; /* the end of them */
    int64_t first = working->length && working->first < number ? working->first : number;
    int64_t end = working->length && known > number ? known : number + 1;
    struct working_bin *bins;

    if (end - first > BINS_MAX)
        first = end - BINS_MAX;
    if (number < first)
        return NULL;
    if (!working->length || first != working->first || end != known) {
        bins = calloc((size_t)(end - first), sizeof(*bins));
        if (!bins)
            return NULL;
        for (uint32_t i = 0; i < working->length; i++)
            if (working->first + i >= first)
                bins[working->first + i - first] = working->bins[i];
        free(working->bins);
        working->bins = bins;
        working->first = first;
        working->length = (uint32_t)(end - first);
    }
    return &working->bins[number - working->first];
}

int working_add(struct working *working, int64_t start_ns, uint64_t read, uint64_t written, const struct sketch *files)
{
    struct working_bin *bin;
    int err = 0;

    if (start_ns > working->end_ns)
        working->end_ns = start_ns;
    bin = read || written || files->count ? bin_at(working, start_ns / SECOND / BIN_S) : NULL;
    if (bin) {
        bin->read_bytes += read;
        bin->written_bytes += written;
        bin->told |= files->count > 0;
    }
    sketch_thin(&working->files, files);
    for (uint32_t i = 0; i < files->count && !err; i++) {
        struct sketch_file file = files->files[i];

        file.seen_ns = start_ns;
        err = sketch_add(&working->files, &file);
    }
    return err;
}

int working_add_flow(struct working *working, int64_t start_ns, const struct flow *flow)
{
    uint64_t read = 0, written = 0;

    for (uint32_t i = 0; i < flow->length; i++) {
        read += flow->slots[i].demand[DEMAND_READ_BYTES];
        written += flow->slots[i].demand[DEMAND_WRITE_BYTES];
    }
    return working_add(working, start_ns, read, written, &flow->files);
}

void working_opened(struct working *working, const struct batch *batch, const struct record *record, int64_t told_ns)
{
    uint64_t opens = histogram_count(&record->size);
    struct working_bin *bin;

    bin = opens ? bin_at(working, batch->start_ns / SECOND / BIN_S) : NULL;
    if (!bin)
        return;
    for (uint32_t i = 0; i < record->size.length; i++)
        bin->opened_bytes += (double)record->size.cells[i].count * (double)bucket_last(record->size.cells[i].bucket);
    if (batch->jobs[record->job].start_ns >= told_ns || batch->start_ns >= told_ns + BIN_S * SECOND)
        bin->opens += opens;
}

bool working_opens(const struct working *working, struct working_opens *out)
{
    uint64_t opens = 0;

    /* Whoever goes on opening files is told of within a bin's time; else only sums are left of that time. */
    for (uint32_t i = 0; i < working->length; i++)
        if (working->bins[i].told || (i && working->bins[i - 1].told))
            opens += working->bins[i].opens;
    if (!opens || !working->files.count)
        return false;
    *out = (struct working_opens){
        .opens = opens,
        .files = sketch_files(&working->files, INT64_MIN),
        .bytes = sketch_bytes(&working->files, INT64_MIN),
    };
    return true;
}

static struct working_bin sum_since(const struct working *working, int64_t since_ns)
{
    struct working_bin sum = {0};

    for (uint32_t i = 0; i < working->length; i++)
        if ((working->first + i + 1) * BIN_S * SECOND > since_ns) {
            sum.read_bytes += working->bins[i].read_bytes;
            sum.written_bytes += working->bins[i].written_bytes;
            sum.opened_bytes += working->bins[i].opened_bytes;
        }
    return sum;
}

double working_grown(double read, double opened, double written)
{
    return fmax(fmin(read - opened, written), 0);
}

static struct working_set set_since(const struct working *working, int64_t since_ns)
{
    struct working_bin sum = sum_since(working, since_ns);
    struct working_set set = {
        .files = sketch_files(&working->files, since_ns),
        .bytes = sketch_bytes(&working->files, since_ns),
        .read_bytes = sum.read_bytes,
    };
    double opened = fmax(sum.opened_bytes, set.bytes.value); /* of trees it is not known how much each open had */

    set.grown = working_grown((double)sum.read_bytes, opened, (double)sum.written_bytes) > GROWN_MAX * set.bytes.value;
    set.reread = set.bytes.value > 0 && !set.grown ? (double)set.read_bytes / set.bytes.value : NAN;
    return set;
}

unsigned working_sets(const struct working *working, struct working_set sets[WORKING_WINDOWS])
{
    int64_t first_ns = working->length ? working->first * BIN_S * SECOND : working->end_ns;
    unsigned count = 0;

    if (!working->files.count)
        return 0;
    for (uint32_t i = 0; i < working->files.count; i++)
        if (working->files.files[i].seen_ns < first_ns)
            first_ns = working->files.files[i].seen_ns;
    while (count < WORKING_WINDOWS) {
        int64_t since_ns = working->end_ns - windows[count] * SECOND;

        sets[count] = set_since(working, since_ns);
        sets[count].window_s = windows[count];
        count++;
        if (since_ns <= first_ns)
            break;
    }
    return count;
}

void working_clear(struct working *working)
{
    sketch_clear(&working->files);
    free(working->bins);
    *working = (struct working){0};
}
