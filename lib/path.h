/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UNBLEND_LIB_PATH_H
#define UNBLEND_LIB_PATH_H

#include <sys/types.h>

/* Makes the directories above a path that are missing. 0 or -errno. */
int path_make_parents(const char *path, mode_t mode);

/* Opens a directory; one that is missing is made, with those above it, for its owner alone, and is safe on the disk. 0
   or -errno. */
int path_directory(const char *path, int *out);

/* The same in an open one, where a link is no directory: whoever owns that one may have put it there. */
int path_directory_at(int parent, const char *name, int *out);

#endif
