/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/local.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "lib/cleanup.h"

static bool is_alive(const struct sockaddr_un *address)
{
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
}

/* 0 or -ENAMETOOLONG. */
static int address_of(const char *path, struct sockaddr_un *out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    *out = address;
    return 0;
}

bool local_answers(const char *path)
{
    struct sockaddr_un address;

    return address_of(path, &address) == 0 && is_alive(&address);
}

int local_bind(const char *path, int *out)
{
    struct sockaddr_un address;
    _cleanup_close_ int fd = -1;
    int err = address_of(path, &address);

    if (err)
        return err;
    if (is_alive(&address))
        return -EADDRINUSE;
    if (unlink(path) && errno != ENOENT)
        return -errno;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || chmod(path, 0666))
        return -errno;
    *out = take_fd(&fd);
    return 0;
}
