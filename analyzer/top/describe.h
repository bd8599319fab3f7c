/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns, keys and tabs in words: for `unblend top --list`, from which the manual is made, too. */
#ifndef UNBLEND_ANALYZER_TOP_DESCRIBE_H
#define UNBLEND_ANALYZER_TOP_DESCRIBE_H

#include <stdio.h>

/* A line each, of a kind, a name, a title and words, with tabs between them. */
void top_describe(FILE *out);

#endif
