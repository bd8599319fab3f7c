/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the text report that is about one job. */
#ifndef UNBLEND_ANALYZER_VIEW_TEXT_H
#define UNBLEND_ANALYZER_VIEW_TEXT_H

#include "analyzer/report.h"
#include "analyzer/view/draw.h"

#define TEXT_WIDTH 80 /* of terminals; a row of a table or a single word with a long name in it may take more */

/* Spikes of reads and of writes, where there are any. */
void text_rhythm(const struct pen *pen, const struct job_total *job, const struct aggregate *totals);

void text_job(const struct pen *pen, struct job_total *job, const struct profile_list *profiles,
              const struct aggregate *totals);

#endif
