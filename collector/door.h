/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where connections come in, one by one, while there is room for those who have not shown a token: the others wait in
 * the kernel's queue. When a whole fleet comes back at once, handshakes that have begun are finished before others
 * begin, in the place of all of them beginning and none being done before its client gives up.
 */
#ifndef UNBLEND_COLLECTOR_DOOR_H
#define UNBLEND_COLLECTOR_DOOR_H

#include <microhttpd.h>

#include "collector/visitor.h"

struct door;

/* Takes what comes to a listening socket, which becomes its own, also on error. 0 or -errno. */
int door_open(int fd, struct MHD_Daemon *daemon, struct visitors *visitors, struct door **out);

/* Nobody comes in any more. NULL is fine. */
void door_close(struct door *door);

#endif
