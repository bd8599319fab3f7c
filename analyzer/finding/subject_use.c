/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job does with a volume. */
#include "analyzer/finding/use.h"

#include <math.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/once.h"
#include "analyzer/part.h"

#define BUFFER     262144.0 /* what small reads and writes could be */
#define PACKED     0.99     /* of the opens, where a hundred files and more are packed together */
#define RECORD     32768    /* larger ones are no commit's */
#define CALM_SHARE 0.25     /* metadata that nobody minds */

double use_quantile_s(const struct histogram *h, double q)
{
    uint64_t value;

    return histogram_quantile(h, q, false, &value) ? (double)value / 1e9 : NAN;
}

/* What transfers in pieces of BUFFER, of which so many end before they are full, would leave out: their time, and that
   of as many of the fastest. */
static void of_pieces(const struct record *transfers, double ends, double *low, double *high)
{
    double filled = (double)histogram_filled(&transfers->size);
    double needed = fmin((double)transfers->bytes / BUFFER + ends, filled);

    *high = filled > 0 ? (double)transfers->latency_sum_ns / 1e9 * (1 - needed / filled) : NAN;
    *low = fmin((filled - needed) * use_quantile_s(&transfers->latency_ns, 0.01), *high);
}

static void of_reads(const struct tally *tally, double *v)
{
    const struct record *read = &tally->op[OP_READ];
    double filled = (double)histogram_filled(&read->size);

    v[TRAIT_READS] = filled;
    v[TRAIT_READ_BYTES] = (double)read->bytes;
    v[TRAIT_READ_MEAN] = quotient((double)read->bytes, filled);
    v[TRAIT_READ_FORWARD] = quotient((double)read->order[ORDER_CONSECUTIVE], figure_ordered(read));
    v[TRAIT_READS_PER_OPEN] = v[TRAIT_OPENS] > 0 ? filled / v[TRAIT_OPENS] : filled;
    v[TRAIT_READ_TIME_SHARE] = quotient(use_seconds(tally, OP_READ), subject_time_s(tally));
    of_pieces(read, 1, &v[TRAIT_SMALL_READ_LOW], &v[TRAIT_SMALL_READ_HIGH]);
}

static void of_writes(const struct tally *tally, double *v)
{
    const struct record *write = &tally->op[OP_WRITE];
    double filled = (double)histogram_filled(&write->size);
    double opens = v[TRAIT_OPENS] + (double)tally_succeeded(tally, OP_CREATE);
    double ends = fmax(opens + (double)tally_ops(tally, OP_FSYNC), 1);

    v[TRAIT_WRITES] = filled;
    v[TRAIT_WRITE_MEAN] = quotient((double)write->bytes, filled);
    v[TRAIT_WRITE_FORWARD] = quotient((double)write->order[ORDER_CONSECUTIVE], figure_ordered(write));
    v[TRAIT_WRITES_TOGETHER] = filled / ends;
    v[TRAIT_WRITE_TIME] = use_seconds(tally, OP_WRITE);
    v[TRAIT_WRITE_TIME_SHARE] = quotient(v[TRAIT_WRITE_TIME], subject_time_s(tally));
    of_pieces(write, ends, &v[TRAIT_SMALL_WRITE_LOW], &v[TRAIT_SMALL_WRITE_HIGH]);
}

/* What kind of metadata operations they are, of so many that close nothing: it decides what helps. */
static void of_metadata_kinds(const struct tally *tally, double named, double *v)
{
    double changes = (double)tally_ops(tally, OP_RENAME) + (double)tally_ops(tally, OP_SETATTR) +
                     (double)tally_ops(tally, OP_TRUNCATE);
    double files = fmin((double)tally_succeeded(tally, OP_OPEN), (double)histogram_filled(&tally->op[OP_READ].size));

    v[TRAIT_UNLINK_SHARE] = quotient((double)tally_ops(tally, OP_UNLINK), named);
    v[TRAIT_MISSING_SHARE] =
        quotient(figure_missing(&tally->op[OP_STAT]) + figure_missing(&tally->op[OP_OPEN]), named);
    v[TRAIT_CHANGE_SHARE] = quotient(changes, named);
    v[TRAIT_READ_FILES_SHARE] = quotient(files, named);
    v[TRAIT_CREATE_TIME_SHARE] =
        quotient(use_seconds(tally, OP_CREATE) + use_seconds(tally, OP_MKDIR), v[TRAIT_METADATA_TIME]);
}

static void of_metadata(const struct tally *tally, double span_s, double *v)
{
    double ops = 0, time = 0, all = 0, calm;
    struct ratios ratios;

    ratios_of(tally, &ratios);
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        if (operation_info(op)->class == OP_CLASS_METADATA) {
            ops += (double)tally_ops(tally, op);
            time += use_seconds(tally, op);
        } else if (op != OP_SEEK && op != OP_MMAP_FAULT) {
            all += (double)tally_ops(tally, op);
        }
    }
    calm = all * CALM_SHARE / (1 - CALM_SHARE);
    v[TRAIT_METADATA_OPS] = ops;
    v[TRAIT_METADATA_SHARE] = ratios.metadata_ops_no_close;
    v[TRAIT_METADATA_TIME] = time;
    of_metadata_kinds(tally, ops - (double)tally_ops(tally, OP_CLOSE), v);
    v[TRAIT_METADATA_OF_SPAN] = quotient(time, span_s);
    v[TRAIT_METADATA_TIME_SHARE] = quotient(time, subject_time_s(tally));
    v[TRAIT_METADATA_LOW] = ops > 0 ? time * fmax(1 - calm / ops, 0) : NAN;
}

/* What is written for each sync. A store syncs a log of small records, and writes large files beside it, which are few: on
   average these hide the log's. Each of its commits has a small write at least, and not each a large one. */
static double synced_bytes(const struct record *write, double syncs)
{
    double large = 0, small, bytes = figure_bytes_of(&write->size, 0) - figure_bytes_of(&write->size, RECORD + 1);

    for (unsigned i = 0; i < write->size.length; i++)
        if (bucket_lower(write->size.cells[i].bucket) > RECORD)
            large += (double)write->size.cells[i].count;
    small = (double)histogram_filled(&write->size) - large;
    if (large > 0 && large < syncs && small >= syncs && bytes <= RECORD * syncs)
        return bytes / syncs;
    return quotient((double)write->bytes, syncs);
}

static void of_syncs(const struct tally *tally, double *v)
{
    double syncs = (double)tally_ops(tally, OP_FSYNC), made = (double)tally_succeeded(tally, OP_CREATE);
    double time = use_seconds(tally, OP_FSYNC);

    v[TRAIT_FSYNCS] = syncs;
    v[TRAIT_BYTES_PER_FSYNC] = synced_bytes(&tally->op[OP_WRITE], syncs);
    v[TRAIT_FSYNCS_PER_FILE] = syncs / fmax(made, 1);
    v[TRAIT_FSYNC_TIME] = time;
    v[TRAIT_FSYNC_TIME_SHARE] = quotient(time, time + use_seconds(tally, OP_WRITE));
    v[TRAIT_FSYNC_LOW] = syncs > 0 ? time * fmax(1 - fmax(made, 1) / syncs, 0) : NAN;
}

/* Time of the kinds from `first` on in what is a profile's of a job's volume, of which these are the times, in seconds. */
static double time_of(const struct catalogue *catalogue, const double *times, const char *name, enum busy first)
{
    const struct profile *profile = catalogue_find(catalogue, name);
    double sum = 0;

    for (unsigned k = first; profile && k < BUSY_KINDS; k++)
        sum += times[(size_t)(profile - catalogue->profiles) * BUSY_KINDS + k] / 1e9;
    return sum;
}

/* How sure it is of a job that this is what it does; NAN: it does not. */
static double sure_of(const struct profile_list *profiles, const char *name)
{
    for (uint32_t i = 0; i < profiles->count; i++)
        if (!profiles->shares[i].pipeline && strcmp(profiles->shares[i].profile, name) == 0)
            return profiles->shares[i].confidence;
    return NAN;
}

/* The times of a job on a volume, as its profiles divide them. */
static void of_profiles(const struct finding_matter *matter, uint32_t job, uint32_t volume, double *v)
{
    const struct catalogue *catalogue = matter->catalogue;
    size_t count = (catalogue->count + 1u) * BUSY_KINDS;
    const double *times = matter->profiles[job].times;
    double all = 0;

    if (!times)
        return;
    times += volume * count;
    for (size_t i = 0; i < count; i++)
        all += times[i] / 1e9;
    v[TRAIT_SMALL_FILES_TIME] = time_of(catalogue, times, "losf", BUSY_READ);
    v[TRAIT_SMALL_FILES_SHARE] = quotient(v[TRAIT_SMALL_FILES_TIME], all);
    v[TRAIT_SMALL_FILES_SURE] = sure_of(&matter->profiles[job], "losf");
    v[TRAIT_SMALL_FILES_LOW] = PACKED * time_of(catalogue, times, "losf", BUSY_METADATA);
    v[TRAIT_IMPORT_TIME] = time_of(catalogue, times, "import-storm", BUSY_READ);
    v[TRAIT_IMPORT_SHARE] = quotient(v[TRAIT_IMPORT_TIME], all);
}

int subjects_use(const struct finding_matter *matter, subject_take take, void *to)
{
    const struct aggregate *totals = matter->totals;

    for (uint32_t j = 0; j < totals->job_count; j++)
        for (uint32_t i = 0; i < totals->jobs[j].volume_count; i++) {
            const struct volume_total *volume = &totals->jobs[j].volumes[i];
            double span_s = subject_span_s(totals, &totals->jobs[j]);
            struct subject subject;
            int err;

            if (!tally_file_ops(&volume->tally))
                continue;
            subject_init(&subject, SUBJECT_USE, &totals->jobs[j], volume);
            use_of_files(&volume->tally, subject.values);
            subject.values[TRAIT_JUMPED_COVERAGE] =
                use_jumped(&totals->jobs[j], volume, subject.values[TRAIT_COVERAGE]);
            of_reads(&volume->tally, subject.values);
            of_writes(&volume->tally, subject.values);
            use_of_sync_writes(&totals->jobs[j], volume, subject.values);
            of_metadata(&volume->tally, span_s, subject.values);
            use_of_cache(totals, &totals->jobs[j], volume, subject.values);
            use_of_alignment(&volume->tally, subject.values);
            of_syncs(&volume->tally, subject.values);
            of_profiles(matter, j, i, subject.values);
            subject.values[TRAIT_OPENED_ONCE] =
                once_opened(volume, quotient(subject.values[TRAIT_READ_BYTES], subject.values[TRAIT_OPENS]));
            subject.values[TRAIT_SHARED] = volume->scope == SCOPE_SHARED;
            err = use_of_working_set(totals, &totals->jobs[j], volume, &subject);
            if (!err)
                err = subject_give(&subject, take, to);
            if (err)
                return err;
        }
    return 0;
}
