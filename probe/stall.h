/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exposed I/O: for how long a rank (probe/rank.h) did nothing but wait while its processes did I/O. Ten times a second,
 * or as often as the number of threads allows, it is looked for how long since the last look its main thread was off
 * the processors, and not waiting for one (/proc/PID/schedstat), and for how long its and its descendants' threads
 * were inside file operations (probe/inside.h); the lesser is taken for one waiting for the other. What
 * lies in different looks is so told apart; what overlaps within a tenth of a second is not. With the GPUs that ranks
 * compute on it is so by interval: a GPU was idle during as much of the I/O as there was of both.
 */
#ifndef UNBLEND_PROBE_STALL_H
#define UNBLEND_PROBE_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record.h"
#include "probe/finder.h"
#include "probe/gpu.h"
#include "probe/origin.h"
#include "probe/tables.h"

struct stalls;

struct stall_sources {
    struct tables *tables;
    struct finder *finder;
    struct origin *origin;
    const char *root; /* as in probe/host.h */
    const volatile uint64_t *since_ns; /* calls that began before are nobody's, CLOCK_MONOTONIC */
};

/* everything: all ranks, and GPUs; else only ranks that have a rank's variable, and few of them. The sources must
   outlive it. 0 or -ENOMEM. */
int stalls_new(const struct stall_sources *sources, bool everything, struct stalls **out);
/* The GPUs that it looks at; NULL: at none. They live as long as it. */
const struct gpus *stalls_gpus(const struct stalls *stalls);
void stalls_free(struct stalls *stalls); /* NULL is fine */

/* Looks, unless the last look was too short a time ago. 0 or -ENOMEM. */
int stalls_look(struct stalls *stalls);
/* Looks a last time, for no new ranks, before rows of threads that are gone are given back; and does not count these any
   more. */
void stalls_before_drain(struct stalls *stalls);
void stalls_after_drain(struct stalls *stalls);

/* Adds what ranks waited since the last call to their jobs in the batch; NULL: it is forgotten. 0 or -ENOMEM. */
int stalls_report(struct stalls *stalls, struct batch *batch);

#endif
