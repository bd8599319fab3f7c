/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a job's transfers came to the device, and how. */
#include "analyzer/finding/use.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/figure.h"

#define AHEAD  1048576.0 /* what a reader from front to back gets at a time */
#define PAGE   4096
#define SECTOR 512 /* the least that direct I/O moves */

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

/* Requests that wrote to the volume's device for the job itself, as no writing back of what the page cache took is; those
   that flushed its cache; and the writes' median time, of the slowest such device, NAN without any. */
static double device_writes(const struct job_total *job, const struct volume_total *volume, double *flushes, double *median_s)
{
    double requests = 0;

    *flushes = 0;
    *median_s = NAN;
    for (uint32_t i = 0; i < job->volume_count; i++) {
        const struct record *write = &job->volumes[i].tally.op[OP_BLOCK_WRITE];

        if (!is_device_of(&job->volumes[i], volume))
            continue;
        requests += (double)record_ops(write);
        *flushes += (double)record_ops(&job->volumes[i].tally.op[OP_BLOCK_FLUSH]);
        *median_s = fmax(*median_s, use_quantile_s(&write->latency_ns, 0.5));
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

/* Who waits for a page that another one has asked for misses it, too, though it comes once: whether the same file was
   fetched again, only the device tells. */
static double misses_per_byte(const struct aggregate *totals, const struct job_total *job,
                              const struct volume_total *volume, const double *traits)
{
    double missed = (double)volume->tally.op[OP_READ].cache[CACHE_MISS_BYTES], device = device_bytes(job, volume);
    double opened = traits[TRAIT_OPENS] * traits[TRAIT_FILE_MEAN], distinct = use_distinct(totals, job, volume, traits);

    return fmax(use_covered(fmax(missed, device), &volume->tally, opened), use_covered(device, &volume->tally, distinct));
}

void use_of_cache(const struct aggregate *totals, const struct job_total *job, const struct volume_total *volume,
                     double *v)
{
    const struct record *read = &volume->tally.op[OP_READ];
    double known = (double)read->cache[CACHE_HIT_OPS] + (double)read->cache[CACHE_MISS_OPS];
    double missed = (double)read->cache[CACHE_MISS_OPS], again;
    double bytes = (double)read->cache[CACHE_HIT_BYTES] + (double)read->cache[CACHE_MISS_BYTES];

    v[TRAIT_DIRECT_SHARE] = misses_page_cache(totals, job) ? NAN : figure_direct(volume->fstype, read);
    v[TRAIT_MISS_SHARE] = quotient((double)read->cache[CACHE_MISS_BYTES], bytes);
    again = v[TRAIT_COVERAGE] > 1 ? 1 - 1 / v[TRAIT_COVERAGE] : 0;
    v[TRAIT_REREAD_HIGH] = again * use_seconds(&volume->tally, OP_READ);
    v[TRAIT_REREAD_LOW] = fmin(again * v[TRAIT_READS] * use_quantile_s(&read->latency_ns, 0.5), v[TRAIT_REREAD_HIGH]);
    if (!(known > 0)) {
        v[TRAIT_RANDOM_HIGH] = use_seconds(&volume->tally, OP_READ);
        return;
    }
    v[TRAIT_MISSES_PER_BYTE] = misses_per_byte(totals, job, volume, v);
    again = v[TRAIT_MISSES_PER_BYTE] > 1 ? 1 - 1 / v[TRAIT_MISSES_PER_BYTE] : 0;
    v[TRAIT_THRASH_HIGH] = slowest_s(read, missed * again);
    v[TRAIT_THRASH_LOW] = fmin(missed * again * use_quantile_s(&read->latency_ns, 0.5), v[TRAIT_THRASH_HIGH]);
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

/* Writes that take as long as a request to the device, of which there is one for each, and are no direct I/O, by their sizes,
   or beside which the device's cache is flushed without a sync: nobody but who asked for it (O_SYNC, O_DSYNC) waits so. */
void use_of_sync_writes(const struct job_total *job, const struct volume_total *volume, double *v)
{
    const struct record *write = &volume->tally.op[OP_WRITE];
    double flushes, median_s, requests = device_writes(job, volume, &flushes, &median_s), sure;

    v[TRAIT_SYNC_WRITES] = 0;
    flushes = fmax(flushes - (double)record_ops(&volume->tally.op[OP_FSYNC]), 0);
    sure = fmax(odd_sizes(&write->size, SECTOR), fmin(flushes, v[TRAIT_WRITES]));
    if (use_quantile_s(&write->latency_ns, 0.5) >= median_s)
        v[TRAIT_SYNC_WRITES] = fmin(requests, sure) / v[TRAIT_WRITES];
}

static double invalid(const struct record *record)
{
    return (double)histogram_at(&record->error_codes, EINVAL);
}

/* Reads of parts of pages, but for as many as the page cache served, to which it does not matter, and as may have been asked
   for in whole pages and stopped at their file's end: one each time that a file is opened, or that its end is read. */
static double odd_direct_reads(const struct record *read, double opens)
{
    double cached = (double)read->cache[CACHE_HIT_OPS] + (double)read->cache[CACHE_MISS_OPS];
    double ends = fmax(opens, (double)histogram_at(&read->size, 0));

    return fmax(0, odd_sizes(&read->size, PAGE) - cached - ends);
}

void use_of_alignment(const struct tally *tally, double *v)
{
    const struct record *read = &tally->op[OP_READ], *write = &tally->op[OP_WRITE];
    double refused = invalid(read) + invalid(write);
    double all = (double)histogram_count(&read->size) + (double)histogram_count(&write->size) + refused;

    v[TRAIT_DATA_TIME] = use_seconds(tally, OP_READ) + use_seconds(tally, OP_WRITE);
    v[TRAIT_MISALIGNED] = quotient(odd_direct_reads(read, v[TRAIT_OPENS]) + odd_sizes(&write->size, PAGE) + refused, all);
    v[TRAIT_MISALIGNED_TIME] = v[TRAIT_DATA_TIME] * v[TRAIT_MISALIGNED];
}
