/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes whose clocks cannot have been right: what they did is counted, and when they did it is not to be trusted. */
#ifndef UNBLEND_ANALYZER_CLOCKS_H
#define UNBLEND_ANALYZER_CLOCKS_H

#include "analyzer/aggregate.h"

/* What there is to say of sorted totals at that moment: *out is malloc'ed, NULL where clocks are as they should be. 0
   or -ENOMEM. */
int clocks_tell(const struct aggregate *totals, int64_t now_ns, char **out);

/* "the clock of node1 is far ahead": *out is malloc'ed, NULL where none is. The span is then as wrong, and volumes that
   were told of from there grow at a rate that nobody can tell: theirs is not known from now on. 0 or -ENOMEM. */
int clocks_doubt(struct aggregate *totals, int64_t now_ns, char **out);

#endif
