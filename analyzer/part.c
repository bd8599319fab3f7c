/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/part.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/filing.h"

#define PLAIN_BINS (2 * (FILE_SIZES + 1)) /* see stat_bins() */
#define KNOWN_MIN  0.5              /* of all of an operation; where fewer are known, all may be of any kind */

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
    struct failures failures = figure_failures(record);
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

/* Stats of one kind, by how large the files are that they describe, where that was counted. */
static size_t described_bins(const struct bin *bin, bool known, const uint64_t *kinds, struct bin *out)
{
    double others = bin->ops;
    size_t n = 0;

    for (unsigned i = 0; i <= FILE_SIZES; i++) {
        double ops = i < FILE_SIZES ? fmin((double)kinds[i], others) : others;

        if (!(ops > 0))
            continue;
        out[n] = *bin;
        out[n].ops = ops;
        out[n++].files = known ? 1u << i : 0;
        others -= ops;
    }
    return n;
}

/* What is open and what has a name. */
static size_t stat_bins(enum operation op, const struct record *record, double ops, struct bin *out)
{
    const struct bin of_open = {.op = op, .ops = fmin(ops, (double)record->order[ORDER_OF_OPEN]), .order = OF_OPEN};
    const struct bin by_name = {.op = op, .ops = ops - of_open.ops, .order = BY_NAME};
    struct described described;
    bool known = figure_described(record, &described);
    size_t n;

    if (of_open.ops + (double)record->order[ORDER_BY_NAME] < KNOWN_MIN * ops)
        return 0;
    for (unsigned i = 0; i < FILE_SIZES; i++)
        described.all[i] -= described.by_name[i] < described.all[i] ? described.by_name[i] : described.all[i];
    n = described_bins(&of_open, known, described.all, out);
    return n + described_bins(&by_name, known, described.by_name, out + n);
}

/* By how large the files are, and all else. Few are not known: they are shared out. */
static size_t file_bins(enum operation op, const struct record *record, double ops, struct bin *out)
{
    double kinds[FILE_SIZES + 1], known = 0;
    size_t n = 0;

    for (unsigned i = 0; i <= FILE_SIZES; i++) {
        kinds[i] = (double)(i < FILE_SIZES ? record->file_size[i] : record->order[ORDER_OF_OTHERS]);
        known += kinds[i];
    }
    for (unsigned i = 0; known >= KNOWN_MIN * ops && i <= FILE_SIZES; i++)
        if (kinds[i] > 0)
            out[n++] = (struct bin){.op = op, .ops = kinds[i] * ops / known, .files = 1u << i};
    return n;
}

/* Those that succeeded and have no size, by what they are of, where that is known. */
static size_t plain_bins(enum operation op, const struct record *record, double ops, struct bin *out)
{
    bool by_file = operation_tells_file_size(op);
    size_t n = by_file ? file_bins(op, record, ops, out) : op == OP_STAT ? stat_bins(op, record, ops, out) : 0;

    if (n)
        return n;
    *out = (struct bin){.op = op, .ops = ops, .files = by_file ? FILES_UNKNOWN : 0};
    return 1;
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

static unsigned filled(const struct part *part)
{
    return part->filled ? part->filled : 1;
}

void part_clear(struct part *part)
{
    unsigned sizes = filled(part);

    memset(part, 0, offsetof(struct part, read));
    memset(part->read, 0, sizes * sizeof(*part->read));
    memset(part->write, 0, sizes * sizeof(*part->write));
}

bool bin_tells_files(const struct bin *bin)
{
    return bin->files && !(bin->files & (bin->files - 1)) && (bin->op != OP_READ || !bin->bucket);
}

void part_add_bin(struct part *part, const struct bin *bin, double ops)
{
    double share = bin->ops > 0 ? ops / bin->ops : 0;

    if (bin->outcome != OUTCOME_OK) {
        part->failed[bin->op] += ops;
        return;
    }
    part->ok[bin->op] += ops;
    if (bin_tells_files(bin))
        part->of_files[bin->op][__builtin_ctz(bin->files)] += ops;
    part->bytes[bin->op] += bin->bytes * share;
    if (bin->op == OP_OPEN)
        part->opened += ops * bucket_middle(bin->bucket);
    if (bin->op != OP_READ && bin->op != OP_WRITE)
        return;
    (bin->op == OP_READ ? part->read : part->write)[bin->bucket] += ops;
    if (part->filled <= bin->bucket)
        part->filled = bin->bucket + 1u;
}

void part_add_sizes(struct part *part, const struct part *other, double reads, double writes)
{
    for (unsigned i = 0; i < filled(other); i++) {
        part->read[i] += reads * other->read[i];
        part->write[i] += writes * other->write[i];
    }
    if (part->filled < other->filled)
        part->filled = other->filled;
}

void rejected_add(struct rejected *rejected, const struct rejected *other)
{
    double ops = rejected->ops + other->ops;

    if (other->ops > rejected->ops)
        *rejected = *other;
    rejected->ops = ops;
}

void part_add(struct part *part, const struct part *other)
{
    for (unsigned op = 0; op < OP_COUNT; op++) {
        part->ok[op] += other->ok[op];
        part->failed[op] += other->failed[op];
        part->bytes[op] += other->bytes[op];
        for (unsigned i = 0; i <= FILE_SIZES; i++)
            part->of_files[op][i] += other->of_files[op][i];
    }
    part_add_sizes(part, other, 1, 1);
    for (unsigned i = 0; i < BUSY_KINDS; i++)
        part->time[i] += other->time[i];
    part->received += other->received;
    part->taken += other->taken;
    part->reworked += other->reworked;
    part->opened += other->opened;
    part->fit += other->fit;
    part->confidence += other->confidence;
    part->summed += other->summed;
    part->unjoined += other->unjoined;
    part->given += other->given;
    if (other->prelude > part->prelude)
        part->first = other->first;
    part->prelude += other->prelude;
    rejected_add(&part->rejected, &other->rejected);
    if (other->contested > part->contested)
        part->rival = other->rival;
    part->contested += other->contested;
    part->together += other->together;
    part->processes += other->processes;
}

void part_keep_likeness(struct part *part, double had)
{
    part->fit = part->fit / had * part_ops(part);
    part->contested = part->contested / had * part_ops(part);
}

void part_add_share(struct part *part, const struct part *other, double ops, double bytes)
{
    double had = part_ops(part);

    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        part->ok[op] += ops * other->ok[op];
        part->failed[op] += ops * other->failed[op];
        part->bytes[op] += bytes * other->bytes[op];
    }
    part_add_sizes(part, other, ops, ops);
    part_keep_likeness(part, had);
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
