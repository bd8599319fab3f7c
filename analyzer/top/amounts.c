/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/amounts.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void add_data(struct amounts *a, const struct record *record, uint64_t ops, bool read)
{
    a->count[read ? COUNT_READ_OPS : COUNT_WRITE_OPS] += ops;
    a->count[read ? COUNT_READ_BYTES : COUNT_WRITE_BYTES] += record->bytes;
    a->count[COUNT_TRANSFERS] += histogram_filled(&record->size);
    a->count[COUNT_SEQUENTIAL] += record->order[ORDER_SEQUENTIAL] + record->order[ORDER_CONSECUTIVE];
    a->count[COUNT_RANDOM] += record->order[ORDER_RANDOM];
}

static void add_by_operation(struct amounts *a, const struct record *record, uint64_t ops)
{
    switch (record->op) {
    case OP_READ:
    case OP_BLOCK_READ:
    case OP_WRITE:
    case OP_BLOCK_WRITE:
        add_data(a, record, ops, record->op == OP_READ || record->op == OP_BLOCK_READ);
        break;
    case OP_OPEN:
    case OP_CREATE:
        a->count[COUNT_OPEN_OPS] += ops;
        break;
    case OP_STAT:
        a->count[COUNT_STAT_OPS] += ops;
        break;
    case OP_SEEK:
        a->count[COUNT_SEEK_OPS] += ops;
        break;
    case OP_FSYNC:
    case OP_BLOCK_FLUSH:
        a->count[COUNT_SYNC_OPS] += ops;
        break;
    case OP_MMAP_FAULT:
        a->count[COUNT_FAULT_OPS] += ops;
        a->count[COUNT_FAULT_BYTES] += record->bytes;
        a->count[COUNT_MINOR_FAULTS] += record->faults[FAULT_MINOR];
        break;
    case OP_BLOCK_DISCARD:
        a->count[COUNT_DISCARD_OPS] += ops;
        break;
    default:
        break;
    }
}

static void add_cache(struct amounts *a, const uint64_t cache[CACHE_COUNTS])
{
    a->count[COUNT_CACHE_HITS] += cache[CACHE_HIT_OPS];
    a->count[COUNT_CACHE_MISSES] += cache[CACHE_MISS_OPS];
    a->count[COUNT_CACHED_BYTES] += cache[CACHE_HIT_BYTES];
    a->count[COUNT_DEVICE_BYTES] += cache[CACHE_MISS_BYTES];
}

void amounts_add(struct amounts *a, const struct record *record)
{
    uint64_t ops = record_ops(record);

    a->count[COUNT_OPS] += ops;
    a->count[COUNT_ERRORS] += record->errors;
    a->count[COUNT_BUSY_NS] += record->latency_sum_ns;
    if (record->op == OP_READ)
        add_cache(a, record->cache);
    if (operation_info(record->op)->class == OP_CLASS_METADATA)
        a->count[COUNT_METADATA_OPS] += ops;
    add_by_operation(a, record, ops);
    a->in_flight += record->in_flight;
    if (record->oldest_ns > a->oldest_ns)
        a->oldest_ns = record->oldest_ns;
}

void amounts_merge(struct amounts *to, const struct amounts *later)
{
    for (unsigned i = 0; i < COUNT_KINDS; i++)
        to->count[i] += later->count[i];
    to->in_flight = later->in_flight;
    to->oldest_ns = later->oldest_ns;
}

void dense_add(struct dense *dense, const struct histogram *h)
{
    if (!h->length)
        return;
    if (dense->first == dense->end || h->cells[0].bucket < dense->first)
        dense->first = h->cells[0].bucket;
    if (h->cells[h->length - 1].bucket >= dense->end)
        dense->end = h->cells[h->length - 1].bucket + 1;
    for (unsigned i = 0; i < h->length; i++)
        dense->count[h->cells[i].bucket] += h->cells[i].count;
}

int dense_give(const struct dense *dense, struct histogram *to)
{
    int err = 0;

    for (unsigned i = dense->first; !err && i < dense->end; i++)
        err = histogram_add_bucket(to, i, dense->count[i]);
    return err;
}

static uint64_t rank_of(double q, uint64_t count)
{
    double rank = ceil(q * (double)count * (1 - 2 * DBL_EPSILON)); /* as histogram_quantile() */

    return rank < 1 ? 1 : (uint64_t)rank;
}

static const struct spread nothing = NO_SPREAD;

void dense_spread(const struct dense *dense, bool skip_zeros, struct spread *out)
{
    unsigned first = skip_zeros && !dense->first ? 1 : dense->first;
    uint64_t count = 0, seen = 0;
    uint64_t *const values[] = {&out->p50, &out->p95, &out->p99};
    const double quantiles[] = {0.5, 0.95, 0.99};
    unsigned at = 0;

    *out = nothing;
    for (unsigned i = first; i < dense->end; i++)
        count += dense->count[i];
    if (!count)
        return;
    for (unsigned i = first; i < dense->end; i++) {
        seen += dense->count[i];
        while (at < 3 && dense->count[i] && seen >= rank_of(quantiles[at], count))
            *values[at++] = bucket_lower(i);
    }
    out->max = bucket_last(dense->end - 1u);
}

void dense_clear(struct dense *dense)
{
    memset(dense->count + dense->first, 0, (size_t)(dense->end - dense->first) * sizeof(*dense->count));
    dense->first = dense->end = 0;
}

void histogram_spread(const struct histogram *h, bool skip_zeros, struct spread *out)
{
    *out = nothing;
    if (!histogram_quantile(h, 0.5, skip_zeros, &out->p50))
        return;
    histogram_quantile(h, 0.95, skip_zeros, &out->p95);
    histogram_quantile(h, 0.99, skip_zeros, &out->p99);
    histogram_max(h, &out->max);
}
