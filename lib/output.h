/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program writes for others to read, and whether it got there: stdio keeps an error, but not which one. */
#ifndef UNBLEND_LIB_OUTPUT_H
#define UNBLEND_LIB_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

/* Why the call of stdio that has just failed did. Never 0. */
int output_error(void);

/* Writes out what waits. 0 or -errno, also of what failed before: -EIO where nobody knows why any more. */
int output_flush(FILE *out);

/* Writes JSON and the end of its line. 0 or -errno. */
int output_json(const json_t *json, FILE *out, size_t flags);

/* The last thing that a program does: its exit status, which is 1, after one line, if not all is on standard output. */
int output_end(int status);

#endif
