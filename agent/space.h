/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How full volumes are: asked once a minute, by a child, for statfs() of a file system whose server is away waits until
 * it is back. A child that waits so is left to itself, its volume is not asked again until it has ended, and the next
 * child asks the others.
 */
#ifndef UNBLEND_AGENT_SPACE_H
#define UNBLEND_AGENT_SPACE_H

#include "lib/record.h"

struct space_watch;

/* 0 or -ENOMEM. */
int space_watch_new(struct space_watch **out);
void space_watch_free(struct space_watch *watch); /* NULL is fine; children that wait are killed */

/* Learns which volumes there are from a batch, puts the answers that have come into it, and asks anew when it is time
   (now, monotonic, in ns). 0 or -ENOMEM. */
int space_watch_run(struct space_watch *watch, struct batch *batch, int64_t now);

#endif
