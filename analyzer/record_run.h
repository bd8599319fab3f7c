/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording from its begin to its end: the command runs, batches are written, and signals end it or are passed on. */
#ifndef UNBLEND_ANALYZER_RECORD_RUN_H
#define UNBLEND_ANALYZER_RECORD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/outward.h"
#include "probe/flavour.h"

/* As `unblend record` takes them; what recorders have, too, is as in analyzer/recorder.h. */
struct record_options {
    const char *output, *agent, *job, *platform_metrics; /* agent: its socket; NULL: a probe of our own */
    const char *root, *job_env, *pod_labels;
    uint64_t interval_ns, duration_ns, kernel_memory, max_cost, burst_factor, tree_depth; /* duration_ns 0: no end */
    bool all, pseudo, paths;
    struct outward_options outward;
    struct flavour_list flavours; /* a probe of our own only */
};

/* Records the command that argv names, until the last of its descendants has gone; or without one (argv[0] is NULL)
   until it is interrupted. Returns the program's exit status: the command's as a shell gives it, or, when the recording
   failed (logged), 1, or 2 where what is to be veiled was asked for wrongly. */
int record_run(const struct record_options *options, char **argv);

#endif
