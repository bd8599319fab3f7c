/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define STEP 4096

/* Room for one more step and a NUL. */
static int make_room(char **text, size_t *capacity, size_t used)
{
    char *grown;

    if (used + STEP < *capacity)
        return 0;
    *capacity = *capacity * 2 + 2 * STEP;
    grown = realloc(*text, *capacity);
    if (!grown)
        return -ENOMEM;
    *text = grown;
    return 0;
}

/* To its end, which files of proc only tell by a read of nothing. */
static int read_all(int fd, char **out, size_t *size)
{
    _cleanup_free_ char *text = NULL;
    size_t capacity = 0, used = 0;

    for (;;) {
        int err = make_room(&text, &capacity, used);
        ssize_t got;

        if (err)
            return err;
        got = read(fd, text + used, STEP);
        if (got < 0)
            return -errno;
        if (!got)
            break;
        used += (size_t)got;
        if (used > HOST_FILE_MAX)
            return -EFBIG;
    }
    text[used] = '\0';
    if (size)
        *size = used;
    *out = take_pointer(text);
    return 0;
}

int host_read(const char *root, char **text, size_t *size, const char *format, ...)
{
    _cleanup_free_ char *path = NULL, *whole = NULL;
    _cleanup_close_ int fd = -1;
    va_list args;
    int length;

    va_start(args, format);
    length = vasprintf(&path, format, args);
    va_end(args);
    if (length < 0 || asprintf(&whole, "%s%s", root, path) < 0)
        return -ENOMEM;
    fd = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? -errno : read_all(fd, text, size);
}

int host_list(const char *root, const char *folder, int (*callback)(const char *name, void *context), void *context)
{
    _cleanup_free_ char *path = NULL;
    struct dirent *entry;
    int result = 0;
    DIR *dir;

    if (asprintf(&path, "%s%s", root, folder) < 0)
        return -ENOMEM;
    dir = opendir(path);
    if (!dir)
        return -errno;
    while (!result && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = callback(entry->d_name, context);
    closedir(dir);
    return result;
}
