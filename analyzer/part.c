/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/behaviour.h"

#define PLAIN_BINS 2   /* see plain_bins() */
#define READDIRS   2.0 /* of a folder, mostly: one for its names, one that returns nothing more */
#define WALK_NAMES 20  /* stats a readdir, */
#define WALK_STATS 3   /* and a file that is opened */
#define STAT_KNOWN 0.5 /* of all stats; where fewer are known, all may be of either kind */

static size_t count_bins(const struct tally *tally)
{
    size_t count = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        count += PLAIN_BINS + OUTCOMES + tally->op[op].size.length;
    return count;
}

static double bytes_of(const struct histogram_cell *cell)
{
    return (double)cell->count * bucket_middle(cell->bucket);
}

/* Middles of buckets are a few per cent off; the sum of the bytes is known and is kept. */
static size_t sized_bins(enum operation op, const struct record *record, struct bin *out)
{
    double guess = 0;

    for (unsigned i = 0; i < record->size.length; i++)
        guess += bytes_of(&record->size.cells[i]);
    for (unsigned i = 0; i < record->size.length; i++) {
        const struct histogram_cell *cell = &record->size.cells[i];

        out[i] = (struct bin){
            .op = op,
            .bucket = cell->bucket,
            .ops = (double)cell->count,
            .bytes = guess > 0 ? bytes_of(cell) * (double)record->bytes / guess : 0,
        };
    }
    return record->size.length;
}

static size_t failed_bins(enum operation op, const struct record *record, struct bin *out)
{
    struct failures failures = behaviour_failures(record);
    const struct bin bins[] = {
        {.op = op, .outcome = OUTCOME_MISSING, .ops = failures.missing},
        {.op = op, .outcome = OUTCOME_FAILED, .ops = failures.other},
        {.op = op, .outcome = OUTCOME_UNKNOWN, .ops = failures.unknown},
    };
    size_t n = 0;

    for (size_t i = 0; i < sizeof(bins) / sizeof(*bins); i++)
        if (bins[i].ops > 0)
            out[n++] = bins[i];
    return n;
}

/* Those that succeeded and have no size: of stats, what is open and what has a name apart, where that is known. */
static size_t plain_bins(enum operation op, const struct record *record, double ops, struct bin *out)
{
    double of_open = fmin(ops, (double)record->order[ORDER_OF_OPEN]);
    size_t n = 0;

    if (op != OP_STAT || of_open + (double)record->order[ORDER_BY_NAME] < STAT_KNOWN * ops) {
        *out = (struct bin){.op = op, .ops = ops};
        return 1;
    }
    if (of_open > 0)
        out[n++] = (struct bin){.op = op, .ops = of_open, .order = OF_OPEN};
    if (ops > of_open)
        out[n++] = (struct bin){.op = op, .ops = ops - of_open, .order = BY_NAME};
    return n;
}

int bins_of(const struct tally *tally, struct bin **out, size_t *count)
{
    struct bin *bins = calloc(count_bins(tally), sizeof(*bins));
    size_t n = 0;

    if (!bins)
        return -ENOMEM;
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        const struct record *record = &tally->op[op];
        uint64_t ok = tally_succeeded(tally, op);

        n += sized_bins(op, record, bins + n);
        /* directories that were opened have no size */
        if (ok > histogram_count(&record->size))
            n += plain_bins(op, record, (double)(ok - histogram_count(&record->size)), bins + n);
        n += failed_bins(op, record, bins + n);
    }
    *out = bins;
    *count = n;
    return 0;
}

void part_add_bin(struct part *part, const struct bin *bin, double ops)
{
    double share = bin->ops > 0 ? ops / bin->ops : 0;

    if (bin->outcome != OUTCOME_OK) {
        part->failed[bin->op] += ops;
        return;
    }
    part->ok[bin->op] += ops;
    part->bytes[bin->op] += bin->bytes * share;
    if (bin->op == OP_OPEN)
        part->opened += ops * bucket_middle(bin->bucket);
    else if (bin->op == OP_READ)
        part->read[bin->bucket] += ops;
    else if (bin->op == OP_WRITE)
        part->write[bin->bucket] += ops;
}

void part_add(struct part *part, const struct part *other)
{
    for (unsigned op = 0; op < OP_COUNT; op++) {
        part->ok[op] += other->ok[op];
        part->failed[op] += other->failed[op];
        part->bytes[op] += other->bytes[op];
    }
    for (unsigned i = 0; i < BUCKET_COUNT; i++) {
        part->read[i] += other->read[i];
        part->write[i] += other->write[i];
    }
    for (unsigned i = 0; i < BUSY_KINDS; i++)
        part->time[i] += other->time[i];
    part->opened += other->opened;
    part->fit += other->fit;
    part->confidence += other->confidence;
    part->summed += other->summed;
    part->rejected += other->rejected;
    if (other->contested > part->contested)
        part->rival = other->rival;
    part->contested += other->contested;
    part->processes += other->processes;
}

double part_ops(const struct part *part)
{
    double ops = 0;

    for (unsigned op = 0; op < OP_COUNT; op++)
        ops += part->ok[op] + part->failed[op];
    return ops;
}

double part_bytes(const struct part *part)
{
    double bytes = 0;

    for (unsigned op = 0; op < OP_COUNT; op++)
        bytes += part->bytes[op];
    return bytes;
}

double part_opens(const struct part *part)
{
    return part->ok[OP_OPEN] + part->ok[OP_CREATE];
}

uint64_t part_quantile(const double sizes[BUCKET_COUNT], double q)
{
    double total = 0, seen = 0;
    unsigned last = 0;

    for (unsigned i = 1; i < BUCKET_COUNT; i++)
        total += sizes[i];
    for (unsigned i = 1; i < BUCKET_COUNT; i++) {
        if (sizes[i] <= 0)
            continue;
        last = i;
        seen += sizes[i];
        if (seen >= q * total)
            break;
    }
    return bucket_lower(last);
}

static double quotient(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* How much of the transfers have the most frequent size: 1 for a fixed buffer. */
static double modal_share(const double sizes[BUCKET_COUNT])
{
    double total = 0, most = 0;

    for (unsigned i = 1; i < BUCKET_COUNT; i++) {
        total += sizes[i];
        most = fmax(most, sizes[i]);
    }
    return quotient(most, total);
}

static double ops(const struct feature_context *c)
{
    return part_ops(c->part);
}

static double opens(const struct feature_context *c)
{
    return part_opens(c->part);
}

static double read_bytes(const struct feature_context *c)
{
    return c->part->bytes[OP_READ];
}

static double write_bytes(const struct feature_context *c)
{
    return c->part->bytes[OP_WRITE];
}

static double fault_bytes(const struct feature_context *c)
{
    return c->part->bytes[OP_MMAP_FAULT];
}

/* By calls and by page faults. */
static double gained(const struct feature_context *c)
{
    return c->part->bytes[OP_READ] + c->part->bytes[OP_MMAP_FAULT];
}

/* That moved something, and page faults. */
static double reads(const struct feature_context *c)
{
    return c->part->ok[OP_READ] - c->part->read[0] + c->part->ok[OP_MMAP_FAULT];
}

/* Nothing was read of the files that were opened, but enough pages were mapped that were in the page cache already. */
static bool is_in_cache(const struct feature_context *c)
{
    return c->part->opened > 0 && c->minors >= opens(c) && !(reads(c) > 0);
}

static double bytes_per_open(const struct feature_context *c)
{
    return quotient(is_in_cache(c) ? c->part->opened : gained(c), opens(c));
}

/* Bytes read, of those of the files opened. */
static double coverage(const struct feature_context *c)
{
    return is_in_cache(c) ? 1 : quotient(gained(c), c->part->opened);
}

static double reads_per_open(const struct feature_context *c)
{
    return is_in_cache(c) ? 1 : quotient(reads(c), opens(c));
}

/* How much of its reads cannot be of samples, were all of these read once. */
static double beyond_samples(const struct feature_context *c)
{
    return isnan(c->samples) ? INFINITY : quotient(c->whole->bytes[OP_READ] - c->samples, c->part->bytes[OP_READ]);
}

static double read_modal_share(const struct feature_context *c)
{
    return modal_share(c->part->read);
}

static double whole_open_errors(const struct feature_context *c)
{
    double failed = c->whole->failed[OP_OPEN] + c->whole->failed[OP_CREATE];

    return quotient(failed, failed + part_opens(c->whole));
}

static double stats_failed(const struct part *part)
{
    return quotient(part->failed[OP_STAT], part->failed[OP_STAT] + part->ok[OP_STAT]);
}

static double stat_errors(const struct feature_context *c)
{
    return stats_failed(c->part);
}

static double whole_stat_errors(const struct feature_context *c)
{
    return stats_failed(c->whole);
}

/*
 * Whether stats are a walk's: it looks at what it has listed, some twenty names a readdir at most in folders of common
 * size, or at many more names than files are opened. Below 1 neither is the case.
 */
static double walk(const struct feature_context *c)
{
    double files = fmax(0, c->whole->ok[OP_OPEN] - c->whole->ok[OP_READDIR] / READDIRS);
    double stats = c->part->ok[OP_STAT];

    return stats > 0 ? fmax(quotient(c->part->ok[OP_READDIR] * WALK_NAMES, stats), stats / (files * WALK_STATS)) : INFINITY;
}

/* Failures because there is no such name; missing where errors are known by number only. */
static double whole_missing(const struct feature_context *c)
{
    return quotient(c->missing, c->whole->failed[OP_STAT] + c->whole->ok[OP_STAT]);
}

static double whole_write_share(const struct feature_context *c)
{
    return quotient(c->whole->bytes[OP_WRITE],
                    c->whole->bytes[OP_READ] + c->whole->bytes[OP_WRITE]);
}

static double write_share(const struct feature_context *c)
{
    return quotient(c->part->bytes[OP_WRITE], c->part->bytes[OP_READ] + c->part->bytes[OP_WRITE]);
}

static double whole_commits(const struct feature_context *c)
{
    return c->whole->ok[OP_FSYNC] + c->whole->ok[OP_RENAME];
}

static double seeks_per_open(const struct feature_context *c)
{
    return quotient(c->part->ok[OP_SEEK], opens(c));
}

/* How often written data is forced to disk: a database's log does it after a few KB. */
static double whole_bytes_per_fsync(const struct feature_context *c)
{
    return c->whole->ok[OP_FSYNC] > 0 ? c->whole->bytes[OP_WRITE] / c->whole->ok[OP_FSYNC]
                                      : INFINITY;
}

static double whole_creates_per_open(const struct feature_context *c)
{
    return quotient(c->whole->ok[OP_CREATE], c->whole->ok[OP_OPEN]);
}

static double is_process(const struct feature_context *c)
{
    return c->process;
}

static double whole_fault_writes(const struct feature_context *c)
{
    return c->fault_writes;
}

static double peers(const struct feature_context *c)
{
    return c->peers;
}

static const struct {
    const char *name;
    double (*value)(const struct feature_context *context);
} features[] = {
    {"ops", ops},
    {"opens", opens},
    {"read_bytes", read_bytes},
    {"write_bytes", write_bytes},
    {"write_share", write_share},
    {"fault_bytes", fault_bytes},
    {"bytes_per_open", bytes_per_open},
    {"coverage", coverage},
    {"reads_per_open", reads_per_open},
    {"seeks_per_open", seeks_per_open},
    {"beyond_samples", beyond_samples},
    {"read_modal_share", read_modal_share},
    {"stat_errors", stat_errors},
    {"walk", walk},
    {"whole.open_errors", whole_open_errors},
    {"whole.stat_errors", whole_stat_errors},
    {"whole.missing", whole_missing},
    {"whole.fault_writes", whole_fault_writes},
    {"whole.write_share", whole_write_share},
    {"whole.commits", whole_commits},
    {"whole.bytes_per_fsync", whole_bytes_per_fsync},
    {"whole.creates_per_open", whole_creates_per_open},
    {"whole.is_process", is_process},
    {"whole.peers", peers},
};

/* A pipeline's features are computed from a job (analyzer/pipeline.c). */
static const char *const job_features[] = {
    "job.read_ops",           "job.read_p50",           "job.write_p50",
    "job.write_peak_to_mean", "job.read_write_overlap", "job.opens_per_close",
};

bool feature_is_known(const char *name)
{
    for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
        if (strcmp(features[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof(job_features) / sizeof(*job_features); i++)
        if (strcmp(job_features[i], name) == 0)
            return true;
    return strncmp(name, "share_bytes.", 12) == 0 || strncmp(name, "share_ops.", 10) == 0;
}

double feature_value(const struct feature_context *context, const char *name)
{
    for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
        if (strcmp(features[i].name, name) == 0)
            return features[i].value(context);
    return NAN;
}
