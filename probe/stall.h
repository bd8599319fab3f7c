/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exposed I/O: for how long a rank (probe/rank.h) did nothing but wait while its processes did I/O. By
 * interval it is the lesser of two times: that of its main thread off the processors, and not waiting for one
 * (/proc/PID/schedstat); and that of the file operations of it and its descendants. What overlaps within an interval is
 * so taken for one waiting for the other: short intervals are more exact. So it is with the GPUs that ranks compute on:
 * in an interval, a GPU was idle during as much of the I/O as there was of both.
 */
#ifndef UNBLEND_PROBE_STALL_H
#define UNBLEND_PROBE_STALL_H

#include "lib/record.h"
#include "probe/gpu.h"

struct stalls;

/* 0 or -ENOMEM. */
int stalls_new(struct stalls **out);
/* The GPUs that it looks at. They live as long as it. */
const struct gpus *stalls_gpus(const struct stalls *stalls);
void stalls_free(struct stalls *stalls); /* NULL is fine */

/* Adds what ranks waited since the last call to the jobs of a batch that has processes and its start. 0 or -ENOMEM. */
int stalls_report(struct stalls *stalls, struct batch *batch);

#endif
