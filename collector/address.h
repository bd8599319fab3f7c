/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where to listen: "127.0.0.1:9450", "[::1]:9450", "localhost:9450"; port 0 takes any. */
#ifndef UNBLEND_COLLECTOR_ADDRESS_H
#define UNBLEND_COLLECTOR_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A listening socket, the caller's. Without tls only a loopback address will do. 0 or -errno
 * (logged in one line); -EPERM when the address needs TLS, -EINVAL when it is none.
 */
int address_listen(const char *address, bool tls, int *fd);

/* What a socket is bound to, as text. */
void address_name(int fd, char *text, size_t size);

#endif
