/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether jobs move data at the same time: of the tenths of a second in which any job read or wrote bytes, the share
 * in which more than one did. Fed as windows.h is; memory is that of the longest interval.
 */
#ifndef UNBLEND_ANALYZER_OVERLAP_H
#define UNBLEND_ANALYZER_OVERLAP_H

#include "lib/flow.h"

/* Zeroed is empty. */
struct overlap {
    int64_t first; /* slot of jobs[0] */
    uint32_t length, capacity;
    uint32_t *jobs;        /* by slot: the job, plus one; 0: none; UINT32_MAX: several */
    uint64_t busy, shared; /* slots that are over */
};

/* Adds a flow of a job (any number of it) of a batch that starts at start_ns. 0 or -ENOMEM. */
int overlap_add(struct overlap *overlap, int64_t start_ns, uint32_t job, const struct flow *flow);

/* NAN when no job moved data. */
double overlap_share(const struct overlap *overlap);

void overlap_clear(struct overlap *overlap);

#endif
