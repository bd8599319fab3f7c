/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads /proc/PID/mountinfo (proc(5)). */
#ifndef UNBLEND_PROBE_MOUNTINFO_H
#define UNBLEND_PROBE_MOUNTINFO_H

#include <stdint.h>

/* One mount; the strings are unescaped and belong to the reader. */
struct mount {
    uint32_t major, minor;
    const char *root; /* the folder of the file system that is mounted */
    const char *point;
    const char *fstype;
    const char *source;
    const char *options; /* the superblock's */
};

/* Calls back for each mount, in the file's order, until one returns not 0. Lines that do not parse are
   skipped. 0, what the callback returned, or -errno. */
int mountinfo_read(const char *path, int (*callback)(const struct mount *, void *), void *context);

#endif
