/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record as a row of the tables sample, sample_1m and sample_1h: written by COPY, read back in binary. */
#ifndef UNBLEND_COLLECTOR_SAMPLE_ROW_H
#define UNBLEND_COLLECTOR_SAMPLE_ROW_H

#include <libpq-fe.h>

#include "collector/copy.h"
#include "lib/record.h"

/* In the order in which sample_row_add() writes them. */
#define SAMPLE_COLUMNS                                                                             \
    "time, batch_id, job_id, volume_id, node_id, position, op, ops, bytes, errors, latency_sum_ns, " \
    "size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, "        \
    "cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, " \
    "error_codes, in_flight_ns, joint"

/* The same, of a table called s, for sample_row_read(). */
#define SAMPLE_COLUMNS_OF_S                                                                        \
    "s.time, s.batch_id, s.job_id, s.volume_id, s.node_id, s.position, s.op, s.ops, s.bytes, "     \
    "s.errors, s.latency_sum_ns, s.size, s.latency, s.sequential, s.consecutive, s.random, "       \
    "s.in_flight, s.oldest_ns, s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, "             \
    "s.cache_miss_bytes, s.read_faults, s.write_faults, s.minor_faults, s.error_codes, s.in_flight_ns, " \
    "s.joint"

/* Where a record belongs. */
struct sample_place {
    int64_t time_ns;
    int64_t batch_id, job_id, volume_id, node_id;
    uint32_t position; /* in its batch */
};

/* 0 or -ENOMEM. */
int sample_row_add(struct copy *rows, const struct sample_place *place, const struct record *record);

/* Reads a row of a binary result; the record must be empty. Its job and volume are not set. 0, -ENOMEM, or -EBADMSG. */
int sample_row_read(const PGresult *result, int row, struct sample_place *place, struct record *record);

/* A histogram as a bytea. 0 or -ENOMEM. */
int copy_histogram(struct copy *rows, const struct histogram *histogram);

#endif
