/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long GPUs were idle, and what their users did meanwhile. */
#ifndef UNBLEND_LIB_GPUTIME_H
#define UNBLEND_LIB_GPUTIME_H

#include <stdint.h>

#define GPU_TIMES 7 /* numbers of one, in this order on the wire */

/* Of the GPUs that a job's ranks compute on, all together. */
struct gpu_time {
    uint64_t watched_ns;      /* for how long it was known how busy they were; 0: it was not */
    uint64_t idle_ns;         /* of that: no kernel ran; */
    uint64_t io_ns;           /* their ranks' processes did I/O; */
    uint64_t idle_io_ns;      /* both; */
    uint64_t idle_exposed_ns; /* both, and the rank's main thread did nothing but wait for it; */
    uint64_t calm_ns;         /* intervals with next to no I/O; */
    uint64_t idle_calm_ns;    /* in these, no kernel ran */
};

static inline void gpu_time_add(struct gpu_time *to, const struct gpu_time *more)
{
    to->watched_ns += more->watched_ns;
    to->idle_ns += more->idle_ns;
    to->io_ns += more->io_ns;
    to->idle_io_ns += more->idle_io_ns;
    to->idle_exposed_ns += more->idle_exposed_ns;
    to->calm_ns += more->calm_ns;
    to->idle_calm_ns += more->idle_calm_ns;
}

#endif
