/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The local socket, through which record, top and report work without rights of their own. Requests are lines of
 * JSON (agent/requests.h); who watches gets frames of lib/recording.h until he hangs up.
 *
 * The kernel tells who calls (SO_PEERCRED): root and the group "unblend" see every process, others their own
 * and the node's totals.
 */
#ifndef UNBLEND_AGENT_SERVE_H
#define UNBLEND_AGENT_SERVE_H

#include <stdint.h>

#include "agent/agent.h"
#include "lib/record.h"

struct serve;

/* Whether the place is free, before anything is done that takes long. 0, or -EADDRINUSE, logged. */
int serve_check(const char *path);

/* Listens, and registers itself and its clients with the epoll descriptor (data.fd). 0 or -errno, logged. */
int serve_new(const char *path, struct agent *agent, int events, struct serve **out);
void serve_free(struct serve *serve); /* NULL is fine */

/* Something has happened on a descriptor of the socket's. */
void serve_event(struct serve *serve, int fd, uint32_t events);

/* The most that any of those who watch has asked for: a second and no processes where nobody does. */
struct serve_wish {
    uint64_t interval_ns;
    enum grain grain;
};
struct serve_wish serve_wish(const struct serve *serve);

/* A sample for everybody who watches. 0, or -errno when those who want one each second will miss a part of it. */
int serve_batch(struct serve *serve, const struct batch *batch);

/* Answers the flushes that are complete, or have waited too long, and lets those go that samples did not reach. */
void serve_progress(struct serve *serve);

#endif
