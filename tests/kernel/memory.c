/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/memory.h"

#include <dirent.h>
#include <stdio.h>

#include "lib/cleanup.h"

#define OBJECTS_MAX 256

/* A map is held by several descriptors: each is counted once, by its number. */
struct tally {
    unsigned ids[OBJECTS_MAX], count;
    uint64_t bytes;
};

static void add(struct tally *tally, const char *fd)
{
    char path[300], line[128];
    _cleanup_fclose_ FILE *file = NULL;
    unsigned long long bytes = 0;
    unsigned id = 0;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", fd);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        sscanf(line, "memlock: %llu", &bytes);
        sscanf(line, "map_id: %u", &id);
    }
    for (unsigned i = 0; id && i < tally->count; i++)
        if (tally->ids[i] == id)
            return;
    if (id && tally->count < OBJECTS_MAX)
        tally->ids[tally->count++] = id;
    tally->bytes += bytes;
}

uint64_t kernel_memory(void)
{
    DIR *directory = opendir("/proc/self/fdinfo");
    const struct dirent *entry;
    struct tally tally = {.count = 0};

    while (directory && (entry = readdir(directory)))
        add(&tally, entry->d_name);
    if (directory)
        closedir(directory);
    return tally.bytes;
}
