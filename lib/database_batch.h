/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of the views unblend.intervals, samples, jobs and volumes back into the batch that was
 * ingested: the same jobs, volumes, hooks and records, in the same order. Rows of the rollups' views make a batch of
 * a minute or an hour.
 */
#ifndef UNBLEND_LIB_DATABASE_BATCH_H
#define UNBLEND_LIB_DATABASE_BATCH_H

#include <libpq-fe.h>

#include "lib/json_cache.h"
#include "lib/record.h"

/* Columns to select, in the order in which they are read. Intervals as text, all others in binary. */
#define DATABASE_INTERVAL_COLUMNS                                                                  \
    "batch_id, time, records, job_ids, volume_ids, job_end_ns, job_exit, cluster, node, role, kernel, boot_id, "     \
    "stream, seq, start_ns, duration_ns, interval_ms, lost_ops, killed_ops, in_flight_ops, unattributed_ops, "       \
    "overflow_ops, hooks, bypass, shed_ms, io_some_ns, io_full_ns, job_watched_ns, job_exposed_ns"
/* Most counts are 0, and a null costs PostgreSQL and libpq a small part of what a number does. */
#define DATABASE_SAMPLE_COLUMNS                                                                    \
    "batch_id, job_id, volume_id, op, nullif(bytes, 0), nullif(errors, 0), latency_sum_ns, nullif(size, ''), " \
    "latency, " \
    "nullif(sequential, 0), nullif(consecutive, 0), nullif(random, 0), nullif(in_flight, 0), nullif(oldest_ns, 0), " \
    "nullif(cache_hit_ops, 0), nullif(cache_hit_bytes, 0), nullif(cache_miss_ops, 0), nullif(cache_miss_bytes, 0), " \
    "nullif(read_faults, 0), nullif(write_faults, 0), nullif(minor_faults, 0), error_codes, nullif(in_flight_ns, 0), " \
    "joint, position"
#define DATABASE_FLOW_COLUMNS                                                                      \
    "batch_id, job_id, volume_id, first_slot, slots, read_bytes, write_bytes, read_ops, write_ops, metadata_ops, " \
    "data_burst, data_steady, metadata_burst, metadata_steady, in_flight_max, files, position"
#define DATABASE_STORAGE_COLUMNS "batch_id, storage, space, trees"
#define DATABASE_JOB_COLUMNS    "job_id, job, kind, \"user\", command, labels, start_ns"
#define DATABASE_VOLUME_COLUMNS "volume_id, volume, source, fstype, scope, mounts, lower"

/*
 * What a group of intervals refers to, in the order that database_batch() wants. $1: ids of jobs, or of volumes; of the
 * rest $1 and $2 are the times of the first and the last interval, and $3 the ids of their batches. Rows of that time
 * come from an index, and the ids are a filter that cannot become anything else: a join would hash the rows, not the
 * ids, as nobody knows how many rows a batch has, and asked for so many ids, BRIN would look for each in each of its
 * ranges. Samples and flows come as they lie there, which is their order but for what came late: whoever reads them
 * looks through them faster than PostgreSQL sorts.
 */
#define DATABASE_OF_BATCHES                                                                        \
    " where time between $1 and $2 and not (batch_id not in (select unnest($3::bigint[])))"
#define DATABASE_JOBS                                                                              \
    "select " DATABASE_JOB_COLUMNS " from unblend.jobs where job_id = any($1::bigint[]) order by job_id"
#define DATABASE_VOLUMES                                                                           \
    "select " DATABASE_VOLUME_COLUMNS " from unblend.volumes where volume_id = any($1::bigint[]) order by volume_id"
/* tier: "" for raw rows, or a rollup's suffix. */
#define DATABASE_SAMPLES(tier)                                                                     \
    "select " DATABASE_SAMPLE_COLUMNS " from unblend.samples" tier DATABASE_OF_BATCHES
#define DATABASE_FLOWS "select " DATABASE_FLOW_COLUMNS " from unblend.flows" DATABASE_OF_BATCHES
#define DATABASE_STORAGE                                                                           \
    "select " DATABASE_STORAGE_COLUMNS " from unblend.storage_lists" DATABASE_OF_BATCHES " order by batch_id"

enum {
    DATABASE_BATCH_ID,
    DATABASE_TIME,
    DATABASE_RECORDS,
    DATABASE_JOB_IDS,
    DATABASE_VOLUME_IDS,
};

/* The different ids in a column of the rows [from, to) of intervals, as "{1,2}"; malloc'ed, NULL
   without memory. */
char *database_ids(const PGresult *intervals, int column, int from, int to);

/* Rows that database_list_order() has put in the order of batches and positions. */
struct database_list {
    PGresult *result;
    int *rows; /* of the result; NULL: as they came */
};

/* What a group of intervals refers to, ordered by id; no flows and no storage are fine. Owns all of it. */
struct database_rows {
    PGresult *jobs, *volumes, *storage;
    struct database_list samples, flows;
};

/* The last column is the position. 0 or -ENOMEM. */
int database_list_order(struct database_list *list);

void database_rows_clear(struct database_rows *rows);

/* The batch of one row of intervals; the rows hold at least what it refers to. The cache is for what batches have in
   common. 0, -ENOMEM, or -EBADMSG when they do not fit each other. */
int database_batch(const PGresult *intervals, int row, const struct database_rows *rows, struct json_cache *cache,
                   struct batch **out);

#endif
