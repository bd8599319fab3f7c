/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers GET /metrics over plain HTTP, when told to: whoever reaches the address can read it. Runs in the agent's own
 * thread, on its epoll descriptor.
 */
#ifndef UNBLEND_AGENT_METRICS_H
#define UNBLEND_AGENT_METRICS_H

#include "agent/exposition.h"

struct metrics;

/* What is asked for the state when somebody looks. */
typedef void metrics_ask(void *context, struct exposition_state *state);

/* Listens on ADDR:PORT and registers with the epoll descriptor; from begins complaints. 0 or -errno, logged. */
int metrics_new(const char *from, const char *address, int events, const struct totals *totals, metrics_ask *ask,
                void *context, struct metrics **out);
void metrics_free(struct metrics *metrics); /* NULL is fine */

/* The descriptor that it has registered; and what is to be done when there is an event on it, and now and then. */
int metrics_fd(const struct metrics *metrics);
void metrics_run(struct metrics *metrics);

#endif
