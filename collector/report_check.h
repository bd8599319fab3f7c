/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a text is a report of `unblend report --format json` of which the profiles can be stored. It comes from
 * outside: what this lets pass, unblend.store_profiles() takes without an error.
 */
#ifndef UNBLEND_COLLECTOR_REPORT_CHECK_H
#define UNBLEND_COLLECTOR_REPORT_CHECK_H

#include <stdio.h>

#define REPORT_WHY 200

/* All of a file, with a zero behind it; the caller's to free. 0, -ENODATA, -EFBIG, -EIO or -ENOMEM. */
int report_read(FILE *file, size_t max, char **text, size_t *size) __attribute__((warn_unused_result));

/* 0, or -EINVAL with one line that names the field. */
int report_check(const char *text, size_t size, char why[REPORT_WHY]) __attribute__((warn_unused_result));

#endif
