/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the daemon and the porter say to each other: a request, and for it an int, 0 or -errno, with a descriptor where
   one was asked for. */
#ifndef UNBLEND_LIB_PORTER_PRIVATE_H
#define UNBLEND_LIB_PORTER_PRIVATE_H

#include <sys/socket.h>

#include "lib/porter.h"

#define PORTER_FILES_MAX 16

enum wish { WISH_OPEN, WISH_RENAME, WISH_UNLINK, WISH_BIND, WISH_DIRECTORY };

struct request {
    enum wish wish;
    unsigned file, other; /* places in the list */
    int flags;
    mode_t mode;
};

/* Room for one descriptor beside a message. */
union control {
    char space[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* The same in both processes. */
extern struct porter_file porter_list[PORTER_FILES_MAX];
extern unsigned porter_listed;

/* The porter's life, as that user, until the daemon hangs up. */
_Noreturn void porter_live(const char *user, int socket);

#endif
