/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files a process of this node has open most, found by looking at its descriptors (/proc/PID/fd) ten times a
 * second: records hold no paths, so they are looked up here, while somebody asks. A file that is open for a moment only
 * is found as often as its share of the time.
 */
#ifndef UNBLEND_ANALYZER_TOP_FILES_H
#define UNBLEND_ANALYZER_TOP_FILES_H

#include <stdint.h>

#define FILES_LOOK_MS 100

struct files {
    uint32_t pid;
    int err;              /* -errno of the last look; 0 */
    int64_t next_ms;      /* when the next look is due, monotonic */
    uint64_t looks, left; /* how many there were; files that were forgotten, as there were too many */
    uint32_t count;
    struct file_seen {
        char path[256];
        uint64_t seen, last;  /* in how many looks; the last one */
        unsigned descriptors; /* as of that one */
    } at[];
};

/* Begins with a look. NULL without memory; free() ends it. */
struct files *files_new(uint32_t pid);

/* Looks, if it is due. Milliseconds until the next look. */
int files_look(struct files *files);

/* Those that were open most come first. */
void files_sort(struct files *files);

#endif
