/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the storage side saw, as text. */
#ifndef UNBLEND_ANALYZER_VIEW_TEXT_STORAGE_H
#define UNBLEND_ANALYZER_VIEW_TEXT_STORAGE_H

#include "analyzer/report.h"
#include "analyzer/view/draw.h"

/* Nothing where nothing was seen. */
void text_storage(const struct pen *pen, const struct report *report);

#endif
