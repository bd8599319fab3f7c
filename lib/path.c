/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cleanup.h"

int path_make_parents(const char *path, mode_t mode)
{
    _cleanup_free_ char *parent = strdup(path);

    if (!parent)
        return -ENOMEM;
    for (char *slash = strchr(parent + 1, '/'); *parent && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(parent, mode) && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return 0;
}

static int open_or_make(int parent, const char *name, int more, int *out)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | more;
    _cleanup_close_ int above = -1;
    int fd = openat(parent, name, flags);

    if (fd < 0 && errno != ENOENT)
        return -errno;
    if (fd < 0) {
        if (mkdirat(parent, name, 0700))
            return -errno;
        fd = openat(parent, name, flags);
        above = fd < 0 ? -1 : openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (above < 0 || fsync(above)) {
            int err = -errno;

            cleanup_close(&fd);
            return err;
        }
    }
    *out = fd;
    return 0;
}

int path_directory_at(int parent, const char *name, int *out)
{
    return open_or_make(parent, name, O_NOFOLLOW, out);
}

int path_directory(const char *path, int *out)
{
    int err = path_make_parents(path, 0755);

    return err ? err : open_or_make(AT_FDCWD, path, 0, out);
}
