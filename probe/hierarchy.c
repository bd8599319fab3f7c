/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/hierarchy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "probe/bpf/ownerabi.h"
#include "probe/host.h"

/* Deeper ones are nobody's job. */
#define DEPTH_MAX 32
#define PATH_BYTES 4096

struct walk {
    unsigned number;
    hierarchy_callback *callback;
    void *context;
    char path[PATH_BYTES];
};

/* Where a hierarchy is mounted by convention: all of systemd, runc and Slurm rely on it. */
static int find_mount(const char *root, unsigned number, char *path, size_t size)
{
    _cleanup_free_ char *text = NULL;
    char *rest, *line;
    int err;

    if (!number) {
        snprintf(path, size, "%s/sys/fs/cgroup/unified", root);
        if (access(path, F_OK))
            snprintf(path, size, "%s/sys/fs/cgroup", root);
        return 0;
    }
    err = host_read(root, &text, NULL, "/proc/cgroups");
    if (err)
        return err;
    for (rest = text; (line = strsep(&rest, "\n"));) {
        char controller[64];
        unsigned hierarchy;

        if (sscanf(line, "%63[^\t ] %u", controller, &hierarchy) != 2 || hierarchy != number)
            continue;
        snprintf(path, size, "%s/sys/fs/cgroup/%s", root, controller);
        if (access(path, F_OK) == 0)
            return 0;
    }
    return -ENOENT;
}

static int walk(struct walk *w, int fd, size_t length, unsigned depth);

static int enter(struct walk *w, int parent, const char *name, size_t length, unsigned depth)
{
    size_t more = strlen(name) + 1;
    struct stat st;
    int fd, result;

    if (length + more >= sizeof(w->path) || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
        return 0; /* gone meanwhile */
    snprintf(w->path + length, sizeof(w->path) - length, "/%s", name);
    result = w->callback(ABI_CGROUP(w->number, (uint64_t)st.st_ino), w->path, w->context);
    if (result || st.st_nlink == 2 || depth == DEPTH_MAX)
        return result; /* two links: it has no folders, and reading its hundred files would cost most of the time */
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? 0 : walk(w, fd, length + more, depth + 1);
}

/* Takes the descriptor. */
static int walk(struct walk *w, int fd, size_t length, unsigned depth)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    int result = 0;

    if (!dir) {
        result = -errno;
        close(fd);
        return result;
    }
    while (!result && (entry = readdir(dir)))
        if ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) && strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0)
            result = enter(w, dirfd(dir), entry->d_name, length, depth);
    closedir(dir);
    return result;
}

int hierarchy_walk(const char *root, unsigned number, hierarchy_callback *callback, void *context)
{
    struct walk *w = malloc(sizeof(*w));
    int err, fd;

    if (!w)
        return -ENOMEM;
    *w = (struct walk){.number = number, .callback = callback, .context = context};
    err = find_mount(root, number, w->path, sizeof(w->path));
    fd = err ? -1 : open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!err && fd < 0)
        err = -errno;
    if (!err) {
        *w->path = '\0';
        err = walk(w, fd, 0, 0);
    }
    free(w);
    return err;
}
