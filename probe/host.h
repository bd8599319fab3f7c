/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small files of the node: of proc, and those that a kubelet or a container runtime keeps. All paths are below a root,
 * which is "" for the node's own; an agent in a container, or a test, has another. Nothing here follows a path into a
 * mount that others may wait for.
 */
#ifndef UNBLEND_PROBE_HOST_H
#define UNBLEND_PROBE_HOST_H

#include <stddef.h>

/* A file that is larger than this is none of those. */
#define HOST_FILE_MAX (1u << 20)

/* Reads a file as text, malloc'ed and with a NUL behind it; its size may be NULL. 0, -EFBIG, or -errno. */
int host_read(const char *root, char **text, size_t *size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Calls back for each entry of a folder, "." and ".." left out, until one returns not 0. What it returned, or -errno. */
int host_list(const char *root, const char *folder, int (*callback)(const char *name, void *context), void *context);

#endif
