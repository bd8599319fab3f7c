/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What monitoring systems get: the sums since the start, for those who ask and for a receiver that is told. */
#ifndef UNBLEND_AGENT_MONITOR_H
#define UNBLEND_AGENT_MONITOR_H

#include <stdbool.h>

#include "agent/agent.h"
#include "agent/metrics.h"

struct monitor;

/*
 * Serves and posts as the options say, which must outlive it; ask tells those who ask of the agent's state. *out is NULL
 * where nobody wants anything. 0 or -errno, logged.
 */
int monitor_new(const struct agent_options *options, int events, metrics_ask *ask, void *context, struct monitor **out);

/* Adds a sample without processes, with the names that may leave the node; takes it over. 0 or -ENOMEM. */
int monitor_add(struct monitor *monitor, struct batch *batch);

/* Tells the receiver of all that there is: at the end of each interval. */
void monitor_tell(struct monitor *monitor);

/* Whether the event is for those who ask: then it has been seen to. */
bool monitor_event(struct monitor *monitor, int fd);

/* Once a second: connections grow old. */
void monitor_run(struct monitor *monitor);

/* Lets those who ask go; then tells the receiver for the last time, and ends. NULL is fine for both. */
void monitor_close(struct monitor *monitor);
void monitor_free(struct monitor *monitor);

#endif
