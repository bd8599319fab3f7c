/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The local socket, through which record, top and report work without rights of their own. A request is one line of
 * JSON, answered by one line of JSON; after "watch", frames of lib/recording.h follow until the caller hangs up.
 *
 *   {"request": "job", "job": NAME, "pid": N, "command": S}  -> {"ok": true, "id": N}
 *        gives a process of the caller's, and all it forks, a job
 *   {"request": "exit", "id": N, "status": N}                -> {"ok": true}
 *   {"request": "living", "id": N}                           -> {"ok": true, "living": N}
 *   {"request": "flush"}   answered when everything up to now is in the collector, or cannot get there
 *                          -> {"ok": true, "pending": 0} or {"ok": false, "pending": N, "why": S}
 *   {"request": "watch"}                                     -> {"ok": true}, then a frame a second
 *
 * The kernel tells who calls (SO_PEERCRED): root and the group "unblend" see every process, others their own
 * and the node's totals.
 */
#ifndef UNBLEND_AGENT_SERVE_H
#define UNBLEND_AGENT_SERVE_H

#include <stdint.h>

#include "agent/agent.h"

struct serve;

/* Listens, and registers itself and its clients with the epoll descriptor (data.fd). 0 or -errno, logged. */
int serve_new(const char *path, struct agent *agent, int events, struct serve **out);
void serve_free(struct serve *serve); /* NULL is fine */

/* Something has happened on a descriptor of the socket's. */
void serve_event(struct serve *serve, int fd, uint32_t events);

/* A sample for everybody who watches. */
void serve_batch(struct serve *serve, const struct batch *batch);

/* Answers the flushes that are complete, or have waited too long. */
void serve_progress(struct serve *serve);

#endif
