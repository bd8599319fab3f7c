/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From root to a system user, for good, with the capabilities that are named and no other. */
#ifndef UNBLEND_LIB_PRIVILEGE_H
#define UNBLEND_LIB_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

#define SYSTEM_USER   "unblend"
#define FALLBACK_USER "nobody"

/* Whom a daemon becomes. */
struct privilege_choice {
    const char *user; /* NULL: nobody else */
    char note[128];   /* what its users should know of that, as the end of a line; "" when it was not root */
};

/* A system user's ids. 0, or -ENOENT (logged). */
int privilege_user(const char *name, uid_t *uid, gid_t *gid);

/* Started as root: the user that was asked for (root: it stays so), or with NULL unblend, else nobody; where root was
   left without the right to become somebody else, as in a container, it stays. 0, or -ENOENT (logged). */
int privilege_choose(const char *asked, struct privilege_choice *choice);

/* Whether we have a capability, by its number. */
bool privilege_has(unsigned capability);

/* Without a capability for a while, this thread alone. False when it was not had; else privilege_resume() must follow. */
bool privilege_suspend(unsigned capability);
void privilege_resume(unsigned capability);

/* Becomes that user, with its groups. keep has count numbers of capabilities, of which those are kept that root had. To be
   called before the first thread. 0 or -errno (logged). */
int privilege_drop(const char *name, const unsigned *keep, unsigned count);

#endif
