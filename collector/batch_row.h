/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interval of a node as a row of unblend.batch, for COPY. */
#ifndef UNBLEND_COLLECTOR_BATCH_ROW_H
#define UNBLEND_COLLECTOR_BATCH_ROW_H

#include "collector/copy.h"
#include "collector/ledger.h"

#define BATCH_COLUMNS                                                                               \
    "time, batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, "  \
    "killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, "           \
    "volume_ids, shed_ms, storage, space, io_some_ns, io_full_ns, job_watched_ns, job_exposed_ns, " \
    "trees"

/* What of a batch has rows of its own: their ids, in its order. */
struct batch_ids {
    int64_t host;
    const int64_t *jobs, *volumes;
};

/* 0 or -ENOMEM. */
int batch_row_add(struct copy *rows, const struct batch *batch, const struct ledger_place *place,
                  const struct batch_ids *ids);

#endif
