/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A Unix stream socket under a path, for everybody to connect to. */
#ifndef UNBLEND_LIB_LOCAL_H
#define UNBLEND_LIB_LOCAL_H

#include <stdbool.h>

/* Whether somebody answers there. */
bool local_answers(const char *path);

/* Makes it there, in the place of one that a crash has left behind; listening is the caller's. 0 or -errno:
   -EADDRINUSE when somebody answers there. */
int local_bind(const char *path, int *out);

#endif
