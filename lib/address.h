/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where to listen: "127.0.0.1:9450", "[::1]:9450", "localhost:9450"; port 0 takes any. */
#ifndef UNBLEND_LIB_ADDRESS_H
#define UNBLEND_LIB_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it has the form of an address, as far as that can be told without asking for names; from, as option_from()
   has it, begins the complaint. 0 or -EINVAL, logged. */
int address_check(const char *from, const char *address);

/*
 * A listening socket, the caller's. Without beyond only a loopback address will do. 0 or -errno, logged in one line
 * but for -EPERM: the address is none of loopback, and the caller knows why that matters.
 */
int address_listen(const char *from, const char *address, bool beyond, int *fd);

/* What a socket is bound to, as text. */
void address_name(int fd, char *text, size_t size);

#endif
