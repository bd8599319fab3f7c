/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line on stderr: "PROGRAM: what failed: why, and what to do". Control characters from outside
 * are shown as \xNN, so that a name cannot forge a line. Where stderr is the systemd journal, entries with a priority
 * (lib/journal.h). Safe from several threads.
 */
#ifndef UNBLEND_LIB_LOG_H
#define UNBLEND_LIB_LOG_H

#include <stdbool.h>

/* The name that stands before every line; kept, not copied. */
void log_program(const char *name);

/* Also show log_debug() lines. */
void log_verbose(bool verbose);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* strerror() of a negative errno; valid until the thread's next call. */
const char *log_errno(int err);

/* The same and, where the error alone tells it, what to do: "No such file or directory: check the name". */
const char *log_why(int err);

#endif
