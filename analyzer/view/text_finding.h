/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The findings that cost most, at most TEXT_FINDINGS of them and no trifles, with what would help. */
#ifndef UNBLEND_ANALYZER_VIEW_TEXT_FINDING_H
#define UNBLEND_ANALYZER_VIEW_TEXT_FINDING_H

#include "analyzer/report.h"
#include "analyzer/view/draw.h"

#define TEXT_FINDINGS 10

void text_findings(const struct pen *pen, const struct report *report);

#endif
