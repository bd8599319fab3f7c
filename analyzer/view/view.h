/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways to write a report. */
#ifndef UNBLEND_ANALYZER_VIEW_VIEW_H
#define UNBLEND_ANALYZER_VIEW_VIEW_H

#include <stdio.h>

#include "analyzer/report.h"

struct view {
    const char *name; /* as in --format */
    /* Writes the whole report; what was written before an error stays written. 0 or -errno; whether it gets there is told
       by output_flush(). */
    int (*write)(struct report *report, FILE *out);
};

/* The names of suspected nodes, one a line. */
void view_suspects(const struct suspects *suspects, FILE *out);

extern const struct view view_text;
extern const struct view view_json;
extern const struct view view_html;

#endif
