/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the platform costs, as text. */
#ifndef UNBLEND_ANALYZER_VIEW_TEXT_COST_H
#define UNBLEND_ANALYZER_VIEW_TEXT_COST_H

#include "analyzer/report.h"
#include "analyzer/view/draw.h"

/* Nothing where no platform was described. */
void text_cost(const struct pen *pen, const struct report *report);

#endif
