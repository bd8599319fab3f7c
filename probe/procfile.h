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

struct procfile_stat {
    char command[64];
    uint32_t parent;
    uint64_t start_ticks; /* since boot */
};

/* /proc/PID/stat; the command may have blanks, brackets and newlines. False when it is none. */
bool procfile_stat(const char *text, struct procfile_stat *stat);

#endif
