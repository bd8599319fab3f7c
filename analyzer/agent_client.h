/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caller's side of the agent's socket (its protocol is described in unblend-agent(8)). */
#ifndef UNBLEND_ANALYZER_AGENT_CLIENT_H
#define UNBLEND_ANALYZER_AGENT_CLIENT_H

#include <jansson.h>

#include "lib/record.h"

#define AGENT_SOCKET RUNSTATEDIR "/unblend/agent.sock"

struct agent_client;

/* 0, or -errno (not logged: whether an agent is needed is the caller's business). */
int agent_connect(const char *path, struct agent_client **out);
void agent_close(struct agent_client *client); /* NULL is fine */

/* Sends a request (taken over) and waits for its answer, which must be "ok". 0 with *answer (may be NULL) to be
   released by the caller, or -errno, logged with the agent's reason. */
int agent_request(struct agent_client *client, json_t *request, json_t **answer);

/* What those who watch may choose: how often, of what is below a second, and whether by thread. */
struct agent_pace {
    uint64_t interval_ns; /* 0: a second */
    bool threads;
};

/* Asks for batches from then on, in the form that costs least, of those that the agent knows. 0, or -errno, logged. */
int agent_watch(struct agent_client *client, struct agent_pace pace);

/* After agent_watch(): another choice. 0, or -errno, logged. */
int agent_repace(struct agent_client *client, struct agent_pace pace);

/* After agent_watch(): waits for the next batch or an event on fd (-1: none), at most timeout_ms (-1: for ever).
   1 with a batch, 0 for the event or the time's end, -errno, logged. */
int agent_next(struct agent_client *client, int fd, int timeout_ms, struct batch **out);

#endif
