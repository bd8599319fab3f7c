/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exposed I/O: for how long a rank did nothing but wait while its processes did I/O. A rank is the topmost process of a
 * job that is known to do I/O, or the topmost that has a rank's variable in its environment (RANK, SLURM_PROCID, ...).
 * By interval it is the lesser of two times: that of its main thread off the processors, and not waiting for one
 * (/proc/PID/schedstat); and that of the file operations of it and its descendants. What overlaps within an interval is
 * so taken for one waiting for the other: short intervals are more exact. So it is with the GPUs that ranks compute on:
 * in an interval, a GPU was idle during as much of the I/O as there was of both.
 */
#ifndef UNBLEND_PROBE_STALL_H
#define UNBLEND_PROBE_STALL_H

#include "lib/record.h"
#include "probe/gpu.h"

#define STALL_RANKS_MAX 256 /* more are not looked at */

struct stalls;

/* 0 or -ENOMEM. */
int stalls_new(struct stalls **out);
/* The GPUs that it looks at. They live as long as it. */
const struct gpus *stalls_gpus(const struct stalls *stalls);
void stalls_free(struct stalls *stalls); /* NULL is fine */

/* Adds what ranks waited since the last call to the jobs of a batch that has processes and its start. 0 or -ENOMEM. */
int stalls_report(struct stalls *stalls, struct batch *batch);

#endif
