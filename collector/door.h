/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where connections come in, one by one, while there is room for those who have not shown a token. The others wait in
 * a line, where they cost a descriptor and no handshake: when a whole fleet comes back at once, what has begun is
 * finished before others begin, in the place of all of them beginning and none being done before its client gives up.
 * The kernel's own line is too short for a fleet: what finds no place there tries again ever later.
 */
#ifndef UNBLEND_COLLECTOR_DOOR_H
#define UNBLEND_COLLECTOR_DOOR_H

#include <microhttpd.h>

#include "collector/visitor.h"

struct door;

/* Takes what comes to a listening socket, which becomes its own, also on error. connections_max: those in the line
   and those who are in. 0 or -errno. */
int door_open(int fd, struct MHD_Daemon *daemon, struct visitors *visitors, unsigned connections_max,
              struct door **out);

/* Nobody comes in any more. NULL is fine. */
void door_close(struct door *door);

#endif
