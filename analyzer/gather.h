/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a source has, added up: where every answer that is about a whole span begins. */
#ifndef UNBLEND_ANALYZER_GATHER_H
#define UNBLEND_ANALYZER_GATHER_H

#include "analyzer/aggregate.h"
#include "analyzer/source.h"
#include "analyzer/suspect.h"

/*
 * Reads the source to its end. The totals' grouping and label are set by the caller and the rest of them is zeroed;
 * they are sorted afterwards. Suspects are looked for, and finished, where the caller wants them; NULL: nobody does. 0
 * or -errno (logged); the caller clears both in any case.
 */
int gather(struct source *source, struct aggregate *totals, struct suspects *suspects);

#endif
