/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of other demand on a platform, as text. */
#ifndef UNBLEND_ANALYZER_VIEW_TEXT_SCENARIO_H
#define UNBLEND_ANALYZER_VIEW_TEXT_SCENARIO_H

#include "analyzer/report.h"
#include "analyzer/view/draw.h"

/* Nothing where no platform was described. 0 or -ENOMEM. */
int text_scenarios(const struct pen *pen, const struct report *report);

#endif
