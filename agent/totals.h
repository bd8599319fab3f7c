/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums since the agent's start, for monitoring systems that ask now and then: counts by job, volume and operation, and
 * histograms by volume and operation, as those of every job would be too many. Units are those of lib/record.h.
 *
 * What has been silent for TOTALS_IDLE_S is forgotten: jobs come and go. Beyond TOTALS_MAX series of a kind, new ones
 * are summed up under the name TOTALS_OTHERS, so that nothing is missing in a sum.
 */
#ifndef UNBLEND_AGENT_TOTALS_H
#define UNBLEND_AGENT_TOTALS_H

#include <stdint.h>

#include "lib/lookup.h"
#include "lib/record.h"

#define TOTALS_MAX    20000
#define TOTALS_IDLE_S 900
#define TOTALS_OTHERS "(others)"

/* One series. */
struct total {
    char *job; /* "" where all jobs are summed up */
    char *volume;
    enum operation op;
    uint64_t ops, bytes, errors, latency_sum_ns;
    struct histogram size, latency_ns; /* of those with job "" only */
    int64_t start_ns; /* wall clock: the first interval that it was in */
    int64_t seen_ns;  /* of what has been watched by then: the last one */
};

struct total_set {
    struct total *rows;
    uint32_t count, capacity;
    struct lookup index;
};

struct totals {
    struct total_set jobs;    /* by job, volume and operation */
    struct total_set volumes; /* by volume and operation */
    uint64_t lost, killed, unattributed, overflow;
    uint64_t shed_ms[SHED_COUNT];
    struct batch *last; /* for what is no sum: hooks, what is in flight, who this is; NULL before the first */
    int64_t start_ns, end_ns; /* wall clock */
    int64_t watched_ns;       /* of all samples: a clock that is set makes nobody silent */
    int64_t forgot_ns;        /* of these */
};

/* Adds a sample without processes, which is taken over. 0, or -ENOMEM: then some of it is missing. */
int totals_add(struct totals *totals, struct batch *batch);

void totals_clear(struct totals *totals);

#endif
