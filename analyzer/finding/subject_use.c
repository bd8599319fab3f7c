/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job does with a volume. */
#include "analyzer/finding/rule.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/part.h"

#define BUFFER      262144.0 /* what small reads and writes could be */
#define AHEAD       1048576.0 /* what a reader from front to back gets at a time */
#define PAGE        4096
#define SECTOR      512      /* the least that direct I/O moves */
#define PACKED      0.99     /* of the opens, where a hundred files and more are packed together */
#define CALM_SHARE  0.25     /* metadata that nobody minds */

static double seconds(const struct tally *tally, enum operation op)
{
    return (double)tally->op[op].latency_sum_ns / 1e9;
}

static double quantile_s(const struct histogram *h, double q)
{
    uint64_t value;

    return histogram_quantile(h, q, false, &value) ? (double)value / 1e9 : NAN;
}

/* Time of the slowest operations, so many of them; no more than all took. */
static double slowest_s(const struct record *record, double count)
{
    double sum = 0;

    for (unsigned i = record->latency_ns.length; i-- > 0 && count > 0;) {
        const struct histogram_cell *cell = &record->latency_ns.cells[i];
        double taken = fmin(count, (double)cell->count);

        sum += taken * bucket_middle(cell->bucket);
        count -= taken;
    }
    return fmin(sum, (double)record->latency_sum_ns) / 1e9;
}

/* What transfers in pieces of BUFFER, of which so many end before they are full, would leave out: their time, and that
   of as many of the fastest. */
static void of_pieces(const struct record *transfers, double ends, double *low, double *high)
{
    double filled = (double)histogram_filled(&transfers->size);
    double needed = fmin((double)transfers->bytes / BUFFER + ends, filled);

    *high = filled > 0 ? (double)transfers->latency_sum_ns / 1e9 * (1 - needed / filled) : NAN;
    *low = fmin((filled - needed) * quantile_s(&transfers->latency_ns, 0.01), *high);
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
    v[TRAIT_READ_TIME_SHARE] = quotient(seconds(tally, OP_READ), subject_time_s(tally));
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
    v[TRAIT_WRITE_TIME] = seconds(tally, OP_WRITE);
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
}

static void of_metadata(const struct tally *tally, double span_s, double *v)
{
    double ops = 0, time = 0, all = 0, calm;
    struct ratios ratios;

    ratios_of(tally, &ratios);
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        if (operation_info(op)->class == OP_CLASS_METADATA) {
            ops += (double)tally_ops(tally, op);
            time += seconds(tally, op);
        } else if (op != OP_SEEK && op != OP_MMAP_FAULT) {
            all += (double)tally_ops(tally, op);
        }
    }
    calm = all * CALM_SHARE / (1 - CALM_SHARE);
    v[TRAIT_METADATA_OPS] = ops;
    v[TRAIT_METADATA_SHARE] = ratios.metadata_ops_no_close;
    of_metadata_kinds(tally, ops - (double)tally_ops(tally, OP_CLOSE), v);
    v[TRAIT_METADATA_TIME] = time;
    v[TRAIT_METADATA_OF_SPAN] = quotient(time, span_s);
    v[TRAIT_METADATA_TIME_SHARE] = quotient(time, subject_time_s(tally));
    v[TRAIT_METADATA_LOW] = ops > 0 ? time * fmax(1 - calm / ops, 0) : NAN;
}

/* How often what was opened is in that much, but for what was written to it since. */
static double covered(double bytes, const struct tally *tally, double opened)
{
    return quotient(bytes - working_grown(bytes, opened, (double)tally->op[OP_WRITE].bytes), opened);
}

static void of_files(const struct tally *tally, double *v)
{
    const struct histogram *sizes = &tally->op[OP_OPEN].size;
    double opens = (double)histogram_count(sizes), bytes = figure_bytes_of(sizes, 0);

    v[TRAIT_OPENS] = opens;
    v[TRAIT_FILE_MEAN] = quotient(bytes, opens);
    v[TRAIT_COVERAGE] = covered((double)tally->op[OP_READ].bytes, tally, bytes);
    v[TRAIT_OPEN_TIME] = seconds(tally, OP_OPEN) + seconds(tally, OP_CLOSE);
}

/* Of a job's opens those by a process that had opened the file before: at least what it opens more often than there
   are files. NAN when processes are not known. */
static double reopened(const struct job_total *job, const struct volume_total *volume, double files)
{
    double count = 0;

    if (histogram_count(&volume->rest.op[OP_OPEN].size))
        return NAN;
    for (uint32_t i = 0; i < job->unit_count; i++)
        if (job->units[i].volume == volume->name)
            count += fmax((double)histogram_count(&job->units[i].tally.op[OP_OPEN].size) - files, 0);
    return count;
}

/* Of the files' interval the end that speaks for the job. A number of an inode may be another file's soon, and some
   file systems do not tell these apart: there are at least as many files as were made. */
static int of_working_set(const struct aggregate *totals, const struct job_total *job,
                          const struct volume_total *volume, struct subject *subject)
{
    double *v = subject->values, files, opens, again;
    struct working_opens opened;

    if (!working_opens(&volume->working, &opened))
        return 0;
    opens = (double)opened.opens;
    files = fmax(opened.files.high, (double)histogram_count(&volume->tally.op[OP_CREATE].size));
    again = reopened(job, volume, files);
    if (isnan(again) && totals->grouping != GROUP_JOB)
        return 0; /* many jobs open a file: each once, maybe */
    again -= v[TRAIT_OPENS] - opens; /* of files that nobody has told of */
    v[TRAIT_OPENS_PER_FILE] = opens / files;
    v[TRAIT_REOPENED] = isnan(again) ? NAN : fmax(again, 0) / opens;
    v[TRAIT_OPEN_LOW] = v[TRAIT_OPEN_TIME] * (isnan(again) ? fmax(1 - files / opens, 0) : v[TRAIT_REOPENED]);
    return subject_files(subject, &opened);
}

static bool is_device_of(const struct volume_total *device, const struct volume_total *volume)
{
    return device->fstype && strcmp(device->fstype, "block") == 0 && device->source && volume->source &&
           strcmp(device->source, volume->source) == 0;
}

/* What a device read for the job; readahead is not told apart from what was asked for. */
static double device_bytes(const struct job_total *job, const struct volume_total *volume)
{
    double bytes = 0;

    for (uint32_t i = 0; i < job->volume_count; i++)
        if (is_device_of(&job->volumes[i], volume))
            bytes += (double)job->volumes[i].tally.op[OP_BLOCK_READ].bytes;
    return bytes;
}

/* Requests that wrote to the volume's device for the job itself, as no writing back of what the page cache took is; and
   their median time, of the slowest such device, NAN without any. */
static double device_writes(const struct job_total *job, const struct volume_total *volume, double *median_s)
{
    double requests = 0;

    *median_s = NAN;
    for (uint32_t i = 0; i < job->volume_count; i++) {
        const struct record *write = &job->volumes[i].tally.op[OP_BLOCK_WRITE];

        if (!is_device_of(&job->volumes[i], volume))
            continue;
        requests += (double)record_ops(write);
        *median_s = fmax(*median_s, quantile_s(&write->latency_ns, 0.5));
    }
    return requests;
}

/* Whether some node of the job could not see what the page cache does: a read of which it says nothing may be any. */
static bool misses_page_cache(const struct aggregate *totals, const struct job_total *job)
{
    for (uint32_t i = 0; i < totals->hook_count; i++)
        if (strstr(totals->hooks[i].name, "page_cache") && aggregate_misses(totals, job, &totals->hooks[i]))
            return true;
    return false;
}

static void of_cache(const struct aggregate *totals, const struct job_total *job, const struct volume_total *volume,
                     double *v)
{
    const struct record *read = &volume->tally.op[OP_READ];
    double known = (double)read->cache[CACHE_HIT_OPS] + (double)read->cache[CACHE_MISS_OPS];
    double missed = (double)read->cache[CACHE_MISS_OPS], again, fetched;
    double bytes = (double)read->cache[CACHE_HIT_BYTES] + (double)read->cache[CACHE_MISS_BYTES];

    v[TRAIT_DIRECT_SHARE] = misses_page_cache(totals, job) ? NAN : figure_direct(volume->fstype, read);
    v[TRAIT_MISS_SHARE] = quotient((double)read->cache[CACHE_MISS_BYTES], bytes);
    again = v[TRAIT_COVERAGE] > 1 ? 1 - 1 / v[TRAIT_COVERAGE] : 0;
    v[TRAIT_REREAD_HIGH] = again * seconds(&volume->tally, OP_READ);
    v[TRAIT_REREAD_LOW] = fmin(again * v[TRAIT_READS] * quantile_s(&read->latency_ns, 0.5), v[TRAIT_REREAD_HIGH]);
    if (!(known > 0)) {
        v[TRAIT_RANDOM_HIGH] = seconds(&volume->tally, OP_READ);
        return;
    }
    fetched = fmax((double)read->cache[CACHE_MISS_BYTES], device_bytes(job, volume));
    v[TRAIT_MISSES_PER_BYTE] = covered(fetched, &volume->tally, v[TRAIT_OPENS] * v[TRAIT_FILE_MEAN]);
    again = v[TRAIT_MISSES_PER_BYTE] > 1 ? 1 - 1 / v[TRAIT_MISSES_PER_BYTE] : 0;
    v[TRAIT_THRASH_HIGH] = slowest_s(read, missed * again);
    v[TRAIT_THRASH_LOW] = fmin(missed * again * quantile_s(&read->latency_ns, 0.5), v[TRAIT_THRASH_HIGH]);
    v[TRAIT_RANDOM_HIGH] = slowest_s(read, missed);
    v[TRAIT_RANDOM_LOW] = slowest_s(read, fmax(missed - (double)read->bytes / AHEAD, 0));
}

/* Transfers of which not one can have been a multiple of so many bytes. */
static double odd_sizes(const struct histogram *sizes, uint64_t unit)
{
    double odd = 0;

    for (unsigned i = 0; i < sizes->length; i++) {
        const struct histogram_cell *cell = &sizes->cells[i];

        if (cell->bucket && bucket_last(cell->bucket) / unit == (bucket_lower(cell->bucket) - 1) / unit)
            odd += (double)cell->count;
    }
    return odd;
}

/* Writes that are no direct I/O and yet take as long as a request to the device, of which there is one for each: nobody
   but who asked for it (O_SYNC, O_DSYNC) waits so. */
static void of_sync_writes(const struct job_total *job, const struct volume_total *volume, double *v)
{
    const struct record *write = &volume->tally.op[OP_WRITE];
    double median_s, requests = device_writes(job, volume, &median_s);

    v[TRAIT_SYNC_WRITES] = 0;
    if (quantile_s(&write->latency_ns, 0.5) >= median_s)
        v[TRAIT_SYNC_WRITES] = fmin(requests, odd_sizes(&write->size, SECTOR)) / v[TRAIT_WRITES];
}

static double invalid(const struct record *record)
{
    return (double)histogram_at(&record->error_codes, EINVAL);
}

/* Reads of parts of pages, but for as many as the page cache served: to these it does not matter. */
static double odd_direct_reads(const struct record *read)
{
    return fmax(0, odd_sizes(&read->size, PAGE) - (double)read->cache[CACHE_HIT_OPS] - (double)read->cache[CACHE_MISS_OPS]);
}

static void of_alignment(const struct tally *tally, double *v)
{
    const struct record *read = &tally->op[OP_READ], *write = &tally->op[OP_WRITE];
    double refused = invalid(read) + invalid(write);
    double all = (double)histogram_count(&read->size) + (double)histogram_count(&write->size) + refused;

    v[TRAIT_DATA_TIME] = seconds(tally, OP_READ) + seconds(tally, OP_WRITE);
    v[TRAIT_MISALIGNED] = quotient(odd_direct_reads(read) + odd_sizes(&write->size, PAGE) + refused, all);
    v[TRAIT_MISALIGNED_TIME] = v[TRAIT_DATA_TIME] * v[TRAIT_MISALIGNED];
}

static void of_syncs(const struct tally *tally, double *v)
{
    double syncs = (double)tally_ops(tally, OP_FSYNC), made = (double)tally_succeeded(tally, OP_CREATE);
    double time = seconds(tally, OP_FSYNC);

    v[TRAIT_FSYNCS] = syncs;
    v[TRAIT_BYTES_PER_FSYNC] = quotient((double)tally->op[OP_WRITE].bytes, syncs);
    v[TRAIT_FSYNCS_PER_FILE] = syncs / fmax(made, 1);
    v[TRAIT_FSYNC_TIME] = time;
    v[TRAIT_FSYNC_TIME_SHARE] = quotient(time, time + seconds(tally, OP_WRITE));
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
            of_files(&volume->tally, subject.values);
            of_reads(&volume->tally, subject.values);
            of_writes(&volume->tally, subject.values);
            of_sync_writes(&totals->jobs[j], volume, subject.values);
            of_metadata(&volume->tally, span_s, subject.values);
            of_cache(totals, &totals->jobs[j], volume, subject.values);
            of_alignment(&volume->tally, subject.values);
            of_syncs(&volume->tally, subject.values);
            of_profiles(matter, j, i, subject.values);
            subject.values[TRAIT_SHARED] = volume->scope == SCOPE_SHARED;
            err = of_working_set(totals, &totals->jobs[j], volume, &subject);
            if (!err)
                err = subject_give(&subject, take, to);
            if (err)
                return err;
        }
    return 0;
}
