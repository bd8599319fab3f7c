/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether files were opened once. Who trains reads its samples again in each epoch; who looks for viruses, greps, checks sums
 * or backs up reads them the same way, but once, and so does a first epoch.
 */
#ifndef UNBLEND_ANALYZER_ONCE_H
#define UNBLEND_ANALYZER_ONCE_H

#include "analyzer/aggregate.h"

/*
 * Of what a job opened on a volume, the files that are about so large: what programs open to begin with, and what others
 * read there, are mostly of other sizes, and say nothing about these. Where few are so large, or the size is not known
 * (0), all of them, by bytes. False where it is not known which files these were, or they are few.
 */
bool once_opened(const struct volume_total *volume, double bytes);

#endif
