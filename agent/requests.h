/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What callers ask for on the local socket, one line of JSON each, answered by one line of JSON (but "pace").
 *
 *   {"request": "job", "job": NAME, "pid": N, "command": S}  -> {"ok": true, "id": N}
 *        gives a process of the caller's, and all it forks, a job
 *   {"request": "exit", "id": N, "status": N}                -> {"ok": true}
 *   {"request": "living", "id": N}                           -> {"ok": true, "living": N}
 *   {"request": "flush"}   answered when everything up to now is in the collector, or cannot get there. An interval is ended for
 *        others than root and the group once a second at most: until then it waits
 *                          -> {"ok": true, "pending": 0} or {"ok": false, "pending": N, "why": S}
 *   {"request": "watch", "form": S, "interval_ms": N, "threads": B}
 *        -> {"ok": true, "form": S}, then a frame a second (lib/recording.h) or, where N is less, as
 *        often as it says, or oftener if others ask for that; by thread, or else by process
 *   {"request": "pace", "interval_ms": N, "threads": B}   of who watches: changes these, and is not answered
 *
 * A job is spoken of by who made it, and by root. What cannot be done is {"ok": false, "why": S}.
 */
#ifndef UNBLEND_AGENT_REQUESTS_H
#define UNBLEND_AGENT_REQUESTS_H

#include "agent/agent.h"
#include "agent/client.h"

struct requests;

/* 0 or -ENOMEM. */
int requests_new(struct agent *agent, struct requests **out);
void requests_free(struct requests *requests); /* NULL is fine */

/* Does what a line asks for and answers it. False when the client is gone. */
bool requests_handle(struct requests *requests, struct client *client, const char *line, size_t size);

/* Ends the interval for a flush, unless one has ended since it was asked for; false: not yet, as the last one ended just now. */
bool requests_flush(struct requests *requests, const struct client *client);

/* Answers a flush that is complete or has waited too long. False when the client is gone. */
bool requests_progress(struct requests *requests, struct client *client);

#endif
