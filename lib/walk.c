/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define LINKS_MAX 40 /* as the kernel has it */

/* What is still to be gone, and from where. */
struct way {
    int directory;
    unsigned links;
    char rest[PATH_MAX];
};

static int begin(struct way *way)
{
    int from = open(*way->rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (from < 0)
        return -errno;
    cleanup_close(&way->directory);
    way->directory = from;
    return 0;
}

/* The name that comes next; false when there is none. */
static bool take(struct way *way, char name[NAME_MAX + 1], int *err)
{
    char *start = way->rest + strspn(way->rest, "/");
    size_t length = strcspn(start, "/");

    *err = length > NAME_MAX ? -ENAMETOOLONG : 0;
    if (!length || *err)
        return false;
    memcpy(name, start, length);
    name[length] = '\0';
    start += length;
    start += strspn(start, "/");
    memmove(way->rest, start, strlen(start) + 1);
    return true;
}

/* What the link says stands before the rest. */
static int follow(struct way *way, int link, const struct stat *st)
{
    char target[PATH_MAX], all[2 * PATH_MAX + 2];
    ssize_t length;

    if (st->st_uid == geteuid())
        return -EACCES;
    if (++way->links > LINKS_MAX)
        return -ELOOP;
    length = readlinkat(link, "", target, sizeof(target) - 1);
    if (length <= 0)
        return length ? -errno : -ENOENT;
    target[length] = '\0';
    snprintf(all, sizeof(all), "%s%s%s", target, *way->rest ? "/" : "", way->rest);
    if (strlen(all) >= sizeof(way->rest))
        return -ENAMETOOLONG;
    strcpy(way->rest, all);
    return *target == '/' ? begin(way) : 0;
}

/* One name further; 1 when the way ends with it. */
static int step(struct way *way, const char *name)
{
    _cleanup_close_ int fd = openat(way->directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return errno == ENOENT && !*way->rest ? 1 : -errno;
    if (fstat(fd, &st))
        return -errno;
    if (S_ISLNK(st.st_mode))
        return follow(way, fd, &st);
    if (!*way->rest)
        return 1;
    close(way->directory);
    way->directory = take_fd(&fd);
    return 0;
}

int walk(const char *path, int *directory, char name[NAME_MAX + 1])
{
    struct way way = {.directory = -1};
    int err;

    if (strlen(path) >= sizeof(way.rest))
        return -ENAMETOOLONG;
    strcpy(way.rest, path);
    err = begin(&way);
    while (!err)
        if (take(&way, name, &err))
            err = step(&way, name);
        else if (!err)
            err = -EISDIR;
    if (err < 0) {
        cleanup_close(&way.directory);
        return err;
    }
    *directory = way.directory;
    return 0;
}
