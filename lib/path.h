/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UNBLEND_LIB_PATH_H
#define UNBLEND_LIB_PATH_H

#include <sys/types.h>

/* Makes the directories above a path that are missing. 0 or -errno. */
int path_make_parents(const char *path, mode_t mode);

#endif
