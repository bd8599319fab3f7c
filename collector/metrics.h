/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the collector counts about itself, since its start. Safe from several threads. */
#ifndef UNBLEND_COLLECTOR_METRICS_H
#define UNBLEND_COLLECTOR_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metrics {
    atomic_uint_fast64_t batches;    /* committed */
    atomic_uint_fast64_t duplicates; /* answered with 200 and not stored again */
    atomic_uint_fast64_t records;    /* committed */
    atomic_uint_fast64_t bytes;      /* of request bodies, as they came over the wire */
    atomic_uint_fast64_t ahead;      /* committed, and of a time that had not come */
    atomic_bool database_up;
};

extern struct metrics metrics;

/* An answer to POST /v1/batches. */
void metrics_answer(unsigned status);

/* How long a transaction took, up to its commit. */
void metrics_commit(uint64_t ns);

/* OpenMetrics text, malloc'ed. 0 or -ENOMEM. */
int metrics_text(char **text, size_t *size);

#endif
