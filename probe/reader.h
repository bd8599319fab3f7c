/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files of proc that may keep their reader waiting: the environment of a process needs its memory map, which the
 * process may hold while it hangs in a page fault. A thread reads, and who asks waits for it a moment only.
 */
#ifndef UNBLEND_PROBE_READER_H
#define UNBLEND_PROBE_READER_H

#include <stddef.h>

struct reader;

/* root as in probe/host.h; copied. 0 or -ENOMEM. */
int reader_new(const char *root, struct reader **out);

/* A thread that is stuck is left to itself. NULL is fine. */
void reader_free(struct reader *reader);

/* As host_read(); -ETIMEDOUT when it takes too long, or when earlier ones do still. */
int reader_read(struct reader *reader, const char *path, char **text, size_t *size);

#endif
