/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"

#define FILES_MAX       512
#define DESCRIPTORS_MAX 4096 /* a look; beyond that it would cost what is asked about */

/* Storage only, as everywhere: no terminals, no /dev/null. */
static bool is_file(const char *path)
{
    return path[0] == '/' && strncmp(path, "/dev/pts", 8) != 0 && strncmp(path, "/dev/tty", 8) != 0 &&
           strcmp(path, "/dev/null") != 0 && strncmp(path, "/memfd:", 7) != 0;
}

/* Files that were found once make room. */
static void forget(struct files *files)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < files->count; i++)
        if (files->at[i].seen > 1 || files->at[i].last == files->looks)
            files->at[kept++] = files->at[i];
    files->left += files->count - kept;
    files->count = kept;
}

static void see(struct files *files, const char *path)
{
    struct file_seen *file;
    uint32_t at = 0;

    while (at < files->count && strcmp(files->at[at].path, path) != 0)
        at++;
    if (at == FILES_MAX) {
        forget(files);
        at = files->count;
        if (at == FILES_MAX) {
            files->left++;
            return;
        }
    }
    file = &files->at[at];
    if (at == files->count) {
        *file = (struct file_seen){.seen = 0};
        snprintf(file->path, sizeof(file->path), "%s", path);
        files->count++;
    }
    file->descriptors = file->last == files->looks ? file->descriptors + 1 : 1;
    file->seen += file->last != files->looks;
    file->last = files->looks;
}

static int look(struct files *files)
{
    char directory[64], link[384], path[256];
    const struct dirent *entry;
    DIR *dir;

    snprintf(directory, sizeof(directory), "/proc/%u/fd", files->pid);
    dir = opendir(directory);
    if (!dir)
        return -errno;
    files->looks++;
    for (unsigned i = 0; i < DESCRIPTORS_MAX && (entry = readdir(dir)); i++) {
        ssize_t length;

        snprintf(link, sizeof(link), "%s/%s", directory, entry->d_name);
        length = readlink(link, path, sizeof(path) - 1);
        if (length <= 0)
            continue; /* "." and "..", or closed by now */
        path[length] = '\0';
        if (is_file(path))
            see(files, path);
    }
    closedir(dir);
    return 0;
}

int files_look(struct files *files)
{
    int64_t now = monotonic_ms();

    if (now >= files->next_ms) {
        files->err = look(files);
        files->next_ms = now + FILES_LOOK_MS;
    }
    return (int)(files->next_ms - now);
}

struct files *files_new(uint32_t pid)
{
    struct files *files = calloc(1, sizeof(*files) + FILES_MAX * sizeof(files->at[0]));

    if (!files)
        return NULL;
    files->pid = pid;
    files_look(files);
    return files;
}

static int by_seen(const void *a, const void *b)
{
    const struct file_seen *x = a, *y = b;

    return x->seen != y->seen                 ? (x->seen < y->seen) - (x->seen > y->seen)
           : x->descriptors != y->descriptors ? (x->descriptors < y->descriptors) - (x->descriptors > y->descriptors)
                                              : strcmp(x->path, y->path);
}

void files_sort(struct files *files)
{
    qsort(files->at, files->count, sizeof(files->at[0]), by_seen);
}
