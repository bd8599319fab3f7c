/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a piece of code writes to stdout or stderr. One at a time for each. */
#ifndef UNBLEND_TESTS_UNIT_CAPTURE_H
#define UNBLEND_TESTS_UNIT_CAPTURE_H

/* From now on; fd is STDOUT_FILENO or STDERR_FILENO. */
void capture_begin(int fd);

/* Up to now, malloc'ed; what was there before is there again. */
char *capture_end(int fd);

#endif
