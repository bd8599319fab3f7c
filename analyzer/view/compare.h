/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What moved between two reports, in each of the views. */
#ifndef UNBLEND_ANALYZER_VIEW_COMPARE_H
#define UNBLEND_ANALYZER_VIEW_COMPARE_H

#include <jansson.h>

#include "analyzer/compare.h"
#include "analyzer/view/draw.h"

void compare_text(const struct pen *pen, const struct comparison *comparison);
json_t *compare_json(const struct comparison *comparison); /* NULL without memory */
void compare_html(FILE *out, const struct comparison *comparison);

#endif
