/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the spool to the collector, oldest first, from a thread of its own; many batches in one request when there
 * are many, and one by one when such a request was refused. A batch is forgotten after a 200 and set aside
 * after a 400 or 413; after a 403 or 500 those behind it go first; all else is tried again, with jittered
 * exponential backoff or when the collector says so. Nothing here ends the agent.
 */
#ifndef UNBLEND_AGENT_PUSH_H
#define UNBLEND_AGENT_PUSH_H

#include <stdbool.h>

#include "agent/spool.h"

struct push;

struct push_options {
    const char *url; /* of the collector: https://HOST:PORT; plain http only to loopback */
    const char *token_file;
    unsigned interval_ms; /* between batches: within half of it, a time of this agent's own passes before one is sent */
    const char *ca_file;   /* NULL: the system's */
    const char *cert, *key; /* of the node, PEM files; NULL: none */
    const char *join_file; /* a join token, exchanged for the token when that is not there; NULL: none */
    const char *node, *cluster; /* as which to join */
};

/* Checks the options, whose strings must outlive it, and starts the thread. 0 or -errno, logged: the options cannot
   work. */
int push_start(const struct push_options *options, struct spool *spool, struct push **out);

/* There is something new in the spool. urgent: try at once, even in the middle of a backoff. */
void push_wake(struct push *push, bool urgent);

/* The next attempt is made soon, on a new connection: with certificates as they are now. */
void push_reconnect(struct push *push);

/* Becomes readable each time something has been acknowledged or set aside; read it empty. */
int push_event_fd(const struct push *push);

/* What the last attempt said, for people: "" when all is well. Copies at most size bytes. */
void push_status(struct push *push, char *text, size_t size);

/* Waits up to timeout_ms for the spool to be empty, then stops the thread. NULL is fine. */
void push_stop(struct push *push, unsigned timeout_ms);

#endif
