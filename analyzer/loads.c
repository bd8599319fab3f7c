/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/loads.h"

#include <errno.h>
#include <sys/param.h>

#include "analyzer/figure.h"
#include "lib/joint.h"

#define MOST  0.5  /* of the bytes */
#define KNOWN 0.95 /* of the reads */

/* Sizes, and what is known of them together. *known is how many reads that moved something it is known of. */
static int divide_sizes(const struct record *read, struct record *loaded, struct record *others, uint64_t *known)
{
    int err = 0;

    for (unsigned i = 0; !err && i < read->joint.length; i++) {
        const struct histogram_cell *cell = &read->joint.cells[i];
        unsigned size = joint_size(cell->bucket);
        bool large = joint_kind(cell->bucket) == FILE_LARGE + 1;

        err = histogram_add_below(large ? &loaded->joint : &others->joint, JOINT_BUCKETS, cell->bucket, cell->count);
        if (joint_of(cell->bucket) != JOINT_ALL)
            continue;
        *known += size ? cell->count : 0;
        if (large && !err)
            err = histogram_add_bucket(&loaded->size, size, MIN(cell->count, histogram_at(&read->size, size)));
    }
    for (unsigned i = 0; !err && i < read->size.length; i++) {
        const struct histogram_cell *cell = &read->size.cells[i];
        uint64_t more = cell->count - histogram_at(&loaded->size, cell->bucket);

        err = more ? histogram_add_bucket(&others->size, cell->bucket, more) : 0;
    }
    return err;
}

/* The slowest are those that load. */
static int divide_latencies(const struct record *read, struct record *loaded, struct record *others)
{
    uint64_t left = histogram_count(&loaded->size);
    int err = 0;

    for (unsigned i = read->latency_ns.length; !err && i--;) {
        const struct histogram_cell *cell = &read->latency_ns.cells[i];
        uint64_t count = MIN(left, cell->count);

        left -= count;
        if (count)
            err = histogram_add_bucket(&loaded->latency_ns, cell->bucket, count);
        if (!err && count < cell->count)
            err = histogram_add_bucket(&others->latency_ns, cell->bucket, cell->count - count);
    }
    return err;
}

/* Which jump is known by size; which way they do is as of all reads. */
static void divide_order(const struct record *read, struct record *loaded, struct record *others)
{
    double jumped = 0, back = figure_returns(read), filled = (double)histogram_filled(&loaded->size);

    if (!(figure_ordered(read) > 0))
        return;
    for (unsigned i = 0; i < loaded->joint.length; i++)
        if (joint_of(loaded->joint.cells[i].bucket) == JOINT_JUMPED)
            jumped += (double)loaded->joint.cells[i].count;
    jumped = fmin(jumped, filled);
    back = back > 0 ? jumped * back : 0;
    loaded->order[ORDER_RANDOM] = MIN((uint64_t)(back + 0.5), read->order[ORDER_RANDOM]);
    loaded->order[ORDER_SEQUENTIAL] = MIN((uint64_t)(jumped - back + 0.5), read->order[ORDER_SEQUENTIAL]);
    loaded->order[ORDER_CONSECUTIVE] = MIN((uint64_t)(filled - jumped), read->order[ORDER_CONSECUTIVE]);
    for (unsigned i = 0; i < ORDER_COUNT; i++)
        others->order[i] = read->order[i] - loaded->order[i];
}

int loads_divide(const struct record *read, struct record *loaded, struct record *others)
{
    uint64_t known = 0;
    double share;
    int err;

    *loaded = *others = (struct record){.op = read->op};
    err = divide_sizes(read, loaded, others, &known);
    if (!err)
        err = divide_latencies(read, loaded, others);
    if (err)
        return err;
    share = quotient(figure_bytes_of(&loaded->size, 1), figure_bytes_of(&read->size, 1));
    if (!(share >= MOST) || (double)known < KNOWN * (double)histogram_filled(&read->size))
        return 0;
    loaded->bytes = (uint64_t)(share * (double)read->bytes);
    loaded->latency_sum_ns = (uint64_t)(share * (double)read->latency_sum_ns);
    others->bytes = read->bytes - loaded->bytes;
    others->latency_sum_ns = read->latency_sum_ns - loaded->latency_sum_ns;
    others->errors = read->errors;
    for (unsigned i = 0; i < FILE_SIZES; i++)
        *(i == FILE_LARGE ? &loaded->file_size[i] : &others->file_size[i]) = read->file_size[i];
    divide_order(read, loaded, others);
    return 1;
}
