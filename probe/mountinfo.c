/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/mountinfo.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* Blanks, newlines and backslashes stand as \ooo, three octal digits. In place. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* "36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw" */
static bool parse(char *line, struct mount *mount)
{
    char *fields[5] = {NULL}, *rest = line, *fstype, *source;

    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < 5; i++) {
        fields[i] = strsep(&rest, " ");
        if (!rest)
            return false;
    }
    if (sscanf(fields[2], "%u:%u", &mount->major, &mount->minor) != 2)
        return false;
    /* Optional fields end with a lone hyphen. */
    for (char *field = strsep(&rest, " "); field && strcmp(field, "-") != 0;)
        field = strsep(&rest, " ");
    fstype = rest ? strsep(&rest, " ") : NULL;
    source = rest ? strsep(&rest, " ") : NULL;
    if (!fstype || !source)
        return false;
    unescape(fields[3]);
    unescape(fields[4]);
    unescape(fstype);
    unescape(source);
    mount->root = fields[3];
    mount->point = fields[4];
    mount->fstype = fstype;
    mount->source = source;
    mount->options = rest ? rest : "";
    if (rest)
        unescape(rest);
    return true;
}

int mountinfo_read(const char *path, int (*callback)(const struct mount *, void *), void *context)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    _cleanup_free_ char *line = NULL;
    size_t size = 0;
    int result = 0;

    if (!file)
        return -errno;
    while (!result && getline(&line, &size, file) >= 0) {
        struct mount mount;

        if (parse(line, &mount))
            result = callback(&mount, context);
    }
    return result;
}
