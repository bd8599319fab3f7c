/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files in the details, and what draws them like the rest. */
#ifndef UNBLEND_ANALYZER_TOP_DETAIL_PROC_H
#define UNBLEND_ANALYZER_TOP_DETAIL_PROC_H

#include "analyzer/top/model.h"
#include "analyzer/view/draw.h"

struct screen;

/* A title with more words behind it, below an empty line. */
void detail_head(const struct pen *pen, const char *title, const char *more);

/* Files, where they are asked for. */
void detail_put_proc(const struct pen *pen, const struct screen *screen, const struct entity *e);

#endif
