/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that root alone can reach, for a daemon that root has started and that has become somebody else: a token that
 * is replaced, a certificate that is renewed, a copy that is opened anew. A process beside the daemon, the porter,
 * opens them for it: those that the daemon's options name, to read, or to write where the daemon writes. It does
 * nothing else, has no right but to pass by the permissions of files, and ends with the daemon. Where the daemon's user
 * can reach all of them there is none.
 *
 * porter_open() and its like are open() and its like, and ask the porter for what they may not do themselves. They can
 * be called by any thread.
 */
#ifndef UNBLEND_LIB_PORTER_H
#define UNBLEND_LIB_PORTER_H

#include <sys/types.h>

enum porter_right {
    PORTER_READ,
    PORTER_WRITE,     /* and make, replace or remove it */
    PORTER_DIRECTORY, /* make and open it */
};

struct porter_file {
    const char *path; /* NULL: no file */
    enum porter_right right;
};

/* As privilege_drop(), with a porter if one is needed. The list is copied. 0 or -errno (logged). */
int porter_drop(const char *user, const unsigned *keep, unsigned count, const struct porter_file *files,
                unsigned file_count);

/* A descriptor, or -errno. */
int porter_open(const char *path, int flags, mode_t mode);

/* 0 or -errno. The new name must be on the list, too. */
int porter_rename(const char *from, const char *to);
int porter_unlink(const char *path);

/* As local_bind() and path_directory(). */
int porter_bind(const char *path, int *out);
int porter_directory(const char *path, int *out);

/* For libraries that take names of files: the path itself where it can be read, else that of a copy in memory, which
   *memory (-1 at first) keeps and name has room for, and which is as new as this call. */
#define PORTER_NAME 32
const char *porter_name(const char *path, int *memory, char name[PORTER_NAME]);

#endif
