/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroups that are there, from the mounted hierarchies: for those that were made before anybody watched. */
#ifndef UNBLEND_PROBE_HIERARCHY_H
#define UNBLEND_PROBE_HIERARCHY_H

#include <stdint.h>

/* Of one cgroup: its key (ABI_CGROUP()) and its path in its hierarchy. Not 0 ends the walk. */
typedef int hierarchy_callback(uint64_t key, const char *path, void *context);

/*
 * Walks one hierarchy, 0 for the unified one; the root itself is left out. root is as in probe/host.h. 0, what the
 * callback returned, -ENOENT where it is not mounted, or -errno.
 */
int hierarchy_walk(const char *root, unsigned number, hierarchy_callback *callback, void *context);

#endif
