/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From root to a system user, for good, with the capabilities that are named and no other. */
#ifndef UNBLEND_LIB_PRIVILEGE_H
#define UNBLEND_LIB_PRIVILEGE_H

#include <sys/types.h>

#define SYSTEM_USER "unblend"

/* A system user's ids. 0, or -ENOENT (logged). */
int privilege_user(const char *name, uid_t *uid, gid_t *gid);

/* Becomes that user, with its groups, and leaves the working directory, which that user may not be allowed to see
   (initdb and shells mind): relative paths end here. keep has count numbers of capabilities. To be called before the
   first thread. 0 or -errno (logged). */
int privilege_drop(const char *name, const unsigned *keep, unsigned count);

#endif
