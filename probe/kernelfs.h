/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of tracefs and debugfs, whether or not somebody has mounted them: the host's mounts are left as they are. */
#ifndef UNBLEND_PROBE_KERNELFS_H
#define UNBLEND_PROBE_KERNELFS_H

/* A descriptor of the file system's root: from where it usually is, or of a mount of our own that nobody else sees.
   -errno: -EPERM without CAP_SYS_ADMIN, -ENODEV when the kernel has no such file system. */
int kernelfs_open(const char *fstype, const char *usual);

/* Reads a small file below it as text. 0 or -errno. */
int kernelfs_read(int root, const char *path, char *text, unsigned size);

#endif
