/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From root to a system user, for good. */
#ifndef UNBLEND_COLLECTOR_PRIVILEGE_H
#define UNBLEND_COLLECTOR_PRIVILEGE_H

#include <sys/types.h>

#define SYSTEM_USER "unblend"

/* A system user's ids. 0, or -ENOENT (logged). */
int privilege_user(const char *name, uid_t *uid, gid_t *gid);

/* Becomes that user, with its groups, and leaves the working directory, which that user may not be allowed to see
   (initdb and shells mind): relative paths end here. 0 or -errno (logged). */
int privilege_drop(const char *name);

#endif
