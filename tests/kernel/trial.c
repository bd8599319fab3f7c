/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/trial.h"

#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/cleanup.h"

void find_mount(struct place *place)
{
    FILE *file = setmntent("/proc/self/mounts", "r");
    const struct mntent *entry;
    struct stat st;

    while (file && (entry = getmntent(file))) {
        size_t length = strlen(entry->mnt_dir);
        bool root = length == 1;

        if (strncmp(place->directory, entry->mnt_dir, length) != 0 ||
            (!root && place->directory[length] != '/') || length < strlen(place->mount))
            continue;
        snprintf(place->mount, sizeof(place->mount), "%s", entry->mnt_dir);
        snprintf(place->fstype, sizeof(place->fstype), "%s", entry->mnt_type);
    }
    if (file)
        endmntent(file);
    place->on_disk = stat(place->directory, &st) == 0 && major(st.st_dev) != 0;
}

void complain(struct trial *trial, const char *format, ...)
{
    size_t used = strlen(trial->complaint);
    va_list args;

    va_start(args, format);
    if (used + 3 < sizeof(trial->complaint)) {
        strcpy(trial->complaint + used, used ? "; " : "");
        used = strlen(trial->complaint);
        vsnprintf(trial->complaint + used, sizeof(trial->complaint) - used, format, args);
    }
    va_end(args);
}

void judge(struct trial *trial, bool good, const char *what, const char *why)
{
    printf("%s %s%s%s\n", good ? "ok    " : "FAILED", what, *why ? ": " : "", why);
    if (good)
        trial->passed++;
    else
        trial->failed++;
}

int drain(struct trial *trial, struct batch **out)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    int err = batch_new(&batch);

    if (!err)
        err = probe_drain(trial->probe, batch);
    if (!err)
        *out = take_pointer(batch);
    return err;
}
