/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/kernelfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/cleanup.h"

static bool is_mounted(int root)
{
    struct statfs fs;

    return fstatfs(root, &fs) == 0 && (fs.f_type == TRACEFS_MAGIC || fs.f_type == DEBUGFS_MAGIC) &&
           faccessat(root, ".", R_OK | X_OK, AT_EACCESS) == 0;
}

/* The calls are older than the oldest kernel that can run the programs; not every C library has names for them. */
static int mount_detached(const char *fstype)
{
    _cleanup_close_ int context = (int)syscall(SYS_fsopen, fstype, FSOPEN_CLOEXEC);
    int root;

    if (context < 0)
        return -errno;
    if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
        return -errno;
    root = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
    return root < 0 ? -errno : root;
}

int kernelfs_open(const char *fstype, const char *usual)
{
    int root = open(usual, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (root >= 0 && is_mounted(root))
        return root;
    if (root >= 0)
        close(root);
    return mount_detached(fstype);
}

int kernelfs_read(int root, const char *path, char *text, unsigned size)
{
    _cleanup_close_ int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

    if (length < 0)
        return -errno;
    text[length] = '\0';
    return 0;
}
