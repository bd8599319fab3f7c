/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files that may keep their reader waiting: the environment of a process needs its memory map, which the process
 * may hold while it hangs in a page fault; a platform's file may be on a mount that hangs. A thread reads, and who asks
 * waits for it a moment only.
 */
#ifndef UNBLEND_PROBE_READER_H
#define UNBLEND_PROBE_READER_H

#include <stddef.h>
#include <stdint.h>

struct reader;

struct reader_file {
    char *text; /* malloc'ed, with a NUL behind it */
    size_t size;
    int64_t written_ms; /* since 1970, where the work tells */
};

/* Done in the thread, with the reader's root. 0 or -errno. */
typedef int (*reader_work)(const char *root, const char *path, struct reader_file *file);

/* root is copied. 0 or -ENOMEM. */
int reader_new(const char *root, reader_work work, struct reader **out);

/* A thread that is stuck is left to itself. NULL is fine. */
void reader_free(struct reader *reader);

/* As the work; -ETIMEDOUT when it takes too long, or when earlier ones do still. */
int reader_read(struct reader *reader, const char *path, struct reader_file *file);

#endif
