/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/feature.h"

#include <errno.h>
#include <math.h>
#include <sys/param.h>

#include "analyzer/figure.h"

static void fit(uint64_t *more, const uint64_t *sum, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        more[i] = MIN(more[i], INT64_MAX - sum[i]);
}

/* As much of it as sums have room for. */
static int add_fitted(struct record *sum, const struct record *record)
{
    struct record counts = *record;

    fit(&counts.bytes, &sum->bytes, 1);
    fit(&counts.errors, &sum->errors, 1);
    fit(&counts.latency_sum_ns, &sum->latency_sum_ns, 1);
    fit(counts.order, sum->order, ORDER_COUNT);
    fit(counts.cache, sum->cache, CACHE_COUNTS);
    fit(counts.faults, sum->faults, FAULT_KINDS);
    return record_add(sum, &counts);
}

/* Sums stay at 2^63 - 1: some hundred years of operations' time, which a cluster's threads may wait in a month. */
static int add(struct record *sum, const struct record *record)
{
    int err = record_add(sum, record);

    return err == -ERANGE ? add_fitted(sum, record) : err;
}

int tally_add(struct tally *tally, const struct record *record)
{
    struct record counts = *record;

    counts.in_flight = counts.in_flight_ns = counts.oldest_ns = 0; /* of a moment; they do not add up over time */
    return add(&tally->op[record->op], &counts);
}

int tally_merge(struct tally *tally, const struct tally *other)
{
    int err = 0;

    for (enum operation op = OP_FIRST; !err && op < OP_COUNT; op++)
        err = add(&tally->op[op], &other->op[op]);
    return err;
}

void tally_clear(struct tally *tally)
{
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        record_clear(&tally->op[op]);
    *tally = (struct tally){0};
}

uint64_t tally_ops(const struct tally *tally, enum operation op)
{
    return record_ops(&tally->op[op]);
}

uint64_t tally_succeeded(const struct tally *tally, enum operation op)
{
    uint64_t ops = record_ops(&tally->op[op]);

    return ops > tally->op[op].errors ? ops - tally->op[op].errors : 0;
}

uint64_t tally_file_ops(const struct tally *tally)
{
    uint64_t ops = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        ops += tally_ops(tally, op);
    return ops;
}

uint64_t tally_file_bytes(const struct tally *tally)
{
    uint64_t bytes = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        bytes += tally->op[op].bytes;
    return bytes;
}

void ratios_of(const struct tally *tally, struct ratios *out)
{
    const struct record *read = &tally->op[OP_READ], *write = &tally->op[OP_WRITE];
    double reads = (double)record_ops(read), writes = (double)record_ops(write);
    double close = (double)tally_ops(tally, OP_CLOSE), seek = (double)tally_ops(tally, OP_SEEK);
    double opens = (double)tally_ops(tally, OP_OPEN) + (double)tally_ops(tally, OP_CREATE);
    double filled = (double)histogram_filled(&read->size);
    double metadata = 0, all = 0; /* all: without seek */
    double ordered = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        enum operation_class class = operation_info(op)->class;
        double ops = (double)tally_ops(tally, op);

        if (class == OP_CLASS_METADATA)
            metadata += ops;
        if (class != OP_CLASS_FAULT && class != OP_CLASS_SEEK)
            all += ops;
    }
    for (unsigned i = 0; i < ORDER_COUNT; i++)
        ordered += (double)read->order[i] + (double)write->order[i];
    for (unsigned i = 0; i < ORDER_COUNT; i++)
        out->order[i] = quotient((double)read->order[i] + (double)write->order[i], ordered);
    out->read_ops = quotient(reads, reads + writes);
    out->read_bytes = quotient((double)read->bytes, (double)read->bytes + (double)write->bytes);
    out->metadata_ops = quotient(metadata, all);
    out->metadata_ops_no_close = quotient(metadata - close, all - close);
    out->metadata_ops_with_seek = quotient(metadata + seek, all + seek);
    out->open_ops = quotient(opens, all);
    out->opens_per_read = quotient(opens, opens + filled);
    out->opens_per_mib = quotient(opens, ((double)read->bytes + (double)write->bytes) / 1048576);
}
