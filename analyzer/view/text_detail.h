/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job's table of operations has no room for. */
#ifndef UNBLEND_ANALYZER_VIEW_TEXT_DETAIL_H
#define UNBLEND_ANALYZER_VIEW_TEXT_DETAIL_H

#include "analyzer/feature.h"
#include "analyzer/view/draw.h"

/* A sentence each on errors, the page cache and page faults, where there is something to say. */
void text_detail(const struct pen *pen, const struct tally *tally);

#endif
