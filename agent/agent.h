/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The node's daemon: samples the probe every second, hands each sample to whoever watches on the local socket, and
 * sums them up into one batch an interval, without process detail, for the spool and the collector.
 */
#ifndef UNBLEND_AGENT_AGENT_H
#define UNBLEND_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/outward.h"
#include "lib/record.h"
#include "probe/flavour.h"

#define AGENT_SOCKET RUNSTATEDIR "/unblend/agent.sock"
#define AGENT_STATE  LOCALSTATEDIR "/lib/unblend/agent"

struct agent_options {
    const char *collector; /* URL; NULL: nothing leaves the node, the local socket still serves */
    const char *token_file;
    const char *ca_file;
    const char *join_file;
    const char *tls_cert, *tls_key;
    const char *state;
    const char *user;      /* to become when root; NULL: as privilege_choose() */
    const char *socket;
    const char *cluster, *node, *role;
    const char *root, *job_env, *pod_labels; /* as in probe/finder.h */
    const char *metrics;   /* ADDR:PORT on which OpenMetrics are served; NULL: nowhere */
    const char *otlp;      /* URL to which OTLP metrics are posted; NULL: nowhere */
    const char *otlp_token_file;
    const char *copy;      /* a recording that gets every batch that is spooled; NULL for none */
    uint64_t interval_ns;  /* of the batches that leave the node */
    uint64_t spool_max;    /* bytes of disk for batches that wait */
    const char *platform_metrics; /* as in probe/probe.h */
    uint64_t kernel_memory;
    uint64_t max_cost;     /* as in sampler.h */
    uint64_t burst_factor;
    struct flavour_list flavours;
    bool pseudo;
    uint64_t tree_depth;   /* as in probe/probe.h */
    bool trees;            /* trees leave the node, too */
    struct outward_options outward; /* what leaves the node */
};

struct agent;

/* Runs until SIGTERM or SIGINT; SIGHUP makes it open anew what it has open for long. The exit status: 0, or 1 when
   options or rights cannot work (logged). */
int agent_run(const struct agent_options *options);

/* What the socket may ask for. 0 or -errno. */
int agent_adopt(struct agent *agent, pid_t pid, const struct job *job, uint32_t *id);
void agent_job_exit(struct agent *agent, uint32_t id, int status);
unsigned agent_job_living(struct agent *agent, uint32_t id);

/* Ends the interval now and hurries it to the collector. */
int agent_flush(struct agent *agent);

/* How many intervals have been ended, and whether the last one was that long ago. */
uint64_t agent_ends(const struct agent *agent);
bool agent_may_end(const struct agent *agent, int64_t apart_ms);

/* Batches not yet acknowledged; and why, "" when all is well. */
unsigned agent_pending(struct agent *agent, char *why, size_t size);

/* Every batch that is not spooled yet is in here; 0 when all of it is safe. */
bool agent_has_unspooled(const struct agent *agent);

#endif
