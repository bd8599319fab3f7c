/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc says of one process, from the text of its files. Any bytes are fine. */
#ifndef UNBLEND_PROBE_PROCFILE_H
#define UNBLEND_PROBE_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The value of the first of these variables that stands in an environment (/proc/PID/environ) and is not empty; NULL
 * when none does. Its value ends with a NUL, as text[size] must be. No other variable is looked at.
 */
const char *procfile_variable(const char *text, size_t size, const char *const *names, unsigned count, unsigned *which);

#define PROCFILE_TICK_NS 10000000u /* 10 ms, whatever the kernel's own ticks are */

struct procfile_stat {
    char command[64];
    uint32_t parent;
    uint64_t start_ticks; /* since boot, of PROCFILE_TICK_NS */
};

/* /proc/PID/stat; the command may have blanks, brackets and newlines. False when it is none. */
bool procfile_stat(const char *text, struct procfile_stat *stat);

/* The same of a process, below a root as in probe/host.h. False when it cannot be read. */
bool procfile_read_stat(const char *root, uint32_t tgid, struct procfile_stat *stat);

#endif
