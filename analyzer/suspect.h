/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that are worse than others that do the same. In each interval, nodes on which a job does an operation on a
 * volume are peers, if their intervals are as long (a local volume's are those of the same source on other nodes). A
 * node stands out where its p99, its share of errors or its oldest operation is more than SUSPECT_MADS scaled median
 * absolute deviations above its peers, of which there are SUSPECT_PEERS at least. It is a suspect when that is so in
 * SUSPECT_BAD of SUSPECT_OF intervals. Where a slow node did few operations, their median stands for the p99.
 *
 * How long operations take is compared with peers that do the same: of like sizes (the p99 of either within a factor
 * of 1.5), of which about as many jump (stats: are by name) and as many find nothing; syncs after no more was written.
 * Failures that tell what there is (no such name, it exists) are no errors. Who would stand out, but does something
 * else, is told apart.
 *
 * Fed with batches in the order of their start; memory is that of a few intervals, and of who stood out.
 */
#ifndef UNBLEND_ANALYZER_SUSPECT_H
#define UNBLEND_ANALYZER_SUSPECT_H

#include "lib/arena.h"
#include "lib/lookup.h"
#include "lib/record.h"

#define SUSPECT_MADS  6
#define SUSPECT_PEERS 5
#define SUSPECT_BAD   3
#define SUSPECT_OF    5

enum symptom { SYMPTOM_P99, SYMPTOM_ERRORS, SYMPTOM_OLDEST, SYMPTOMS };

extern const char *const symptom_names[SYMPTOMS]; /* "p99_s", "errors", "oldest_s" */

struct suspect {
    const char *cluster, *node, *job, *volume;
    enum operation op;
    enum symptom symptom;
    uint32_t bad, intervals; /* how often it stood out, and was compared */
    double value, median, mads; /* of the worst interval: seconds, or a share */
    uint32_t peers;
};

/* Zeroed is empty. */
struct suspects {
    struct arena arena;
    struct suspect *list; /* once it is finished: by node, the worst first */
    uint32_t count, capacity;
    struct suspect *unlike; /* who would stand out, in `bad` intervals, were it not for what it does; no values */
    uint32_t unlike_count, unlike_capacity;
    struct suspect_state *state; /* private, until it is finished */
};

/* 0, -ENOMEM or -ERANGE. */
int suspects_add(struct suspects *suspects, const struct batch *batch);
int suspects_finish(struct suspects *suspects);
void suspects_clear(struct suspects *suspects);

#endif
