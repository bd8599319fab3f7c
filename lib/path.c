/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/path.h"

#include <errno.h>
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
