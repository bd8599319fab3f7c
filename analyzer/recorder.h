/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `unblend record` records with: a probe of its own, or the local agent's. Both hand out a batch an
 * interval and know when the last process of a job is gone.
 */
#ifndef UNBLEND_ANALYZER_RECORDER_H
#define UNBLEND_ANALYZER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/record.h"
#include "probe/flavour.h"

#define RECORDER_RUNNING (-1) /* in the place of an exit status */

struct recorder {
    /* Gives a process and all that it forks the job. 0 or -errno, logged. */
    int (*adopt)(struct recorder *recorder, pid_t pid, const struct job *job);
    /* Waits for the end of the interval or an event on fd. 1 with a batch, 0 for the event, -errno, logged. */
    int (*next)(struct recorder *recorder, int fd, struct batch **out);
    /* Whether processes of the job are alive; false when that cannot be known any more. */
    bool (*living)(struct recorder *recorder);
    /* The job is over, or (RECORDER_RUNNING) runs on unseen: what is left of it, to be called until it returns 0. 1 with a
       batch, 0, -errno, logged. */
    int (*finish)(struct recorder *recorder, int status, struct batch **out);
    void (*free)(struct recorder *recorder);
};

struct recorder_options {
    bool all;    /* the whole node */
    bool pseudo;
    uint64_t interval_ns;
    uint64_t kernel_memory;
    uint64_t max_cost; /* as in probe/sampler.h; an agent has its own */
    uint64_t burst_factor; /* an agent has its own */
    struct flavour_list flavours; /* a probe of our own only, */
    const char *platform_metrics; /* and this */
    unsigned tree_depth; /* as in probe/probe.h; an agent has its own */
    const char *root, *job_env, *pod_labels, *own_job; /* as in probe/finder.h; an agent has its own */
};

/* With a probe of its own. 0 or -errno, logged. */
int recorder_local(const struct recorder_options *options, struct recorder **out);

/* With the agent that listens on a socket. 0 or -errno, logged. */
int recorder_agent(const char *socket, const struct recorder_options *options, struct recorder **out);

static inline void recorder_freep(struct recorder **recorder)
{
    if (*recorder)
        (*recorder)->free(*recorder);
}

#endif
