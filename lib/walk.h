/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths that somebody with fewer rights may have a hand in: they lead where others have made them lead. */
#ifndef UNBLEND_LIB_WALK_H
#define UNBLEND_LIB_WALK_H

#include <limits.h>

/* Opens (O_PATH) the directory in which a path ends, and tells the last name, which may be missing there. Symbolic
   links are followed unless they belong to our own user, whose rights the caller wants to go beyond. 0 or -errno:
   -EACCES where there is such a link, -EISDIR where there is no last name. */
int walk(const char *path, int *directory, char name[NAME_MAX + 1]);

#endif
