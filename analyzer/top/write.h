/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batch mode: a sample as text, as one line of JSON, or as lines of CSV. */
#ifndef UNBLEND_ANALYZER_TOP_WRITE_H
#define UNBLEND_ANALYZER_TOP_WRITE_H

#include "analyzer/top/tab.h"
#include "analyzer/view/draw.h"

struct shown {
    const struct model *model;
    const struct sample *sample;
    const struct tab *tab;
    const struct layout *layout;
    const struct row *rows;
    uint32_t count;
    bool since_start;
};

struct text_style {
    bool kilobytes;
    bool time;      /* before each line */
    unsigned quiet; /* 1: titles at the first sample only, 2: none, 3: no lines above them either */
    unsigned width; /* columns that fit */
    bool first;     /* it is the first sample */
};

/* All return 0, -ENOMEM or -EIO. */
int write_text(const struct pen *pen, const struct shown *shown, const struct text_style *style);
int write_json(FILE *out, const struct shown *shown);
int write_csv(FILE *out, const struct shown *shown, bool first);

/* Which columns of a layout fit: those in order as long as there is room, the tab's name column always, and the one
   that is sorted by. Writes at most TAB_COLUMNS_MAX places of the table; returns how many. */
unsigned fit_columns(const struct tab *tab, const struct layout *layout, bool kilobytes, unsigned width,
                     unsigned fitting[TAB_COLUMNS_MAX]);
int column_width(const struct column *column, bool kilobytes);

/* Totals in one line; what could not be seen in one line, and what of it is bad; the same in few words. */
void totals_line(const struct model *model, bool since_start, char *buffer, size_t size);
bool coverage_line(const struct model *model, char *buffer, size_t size);
bool coverage_words(const struct model *model, char *buffer, size_t size);

#endif
