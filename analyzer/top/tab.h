/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tabs, and the rows that one shows: which entities, in which order, with which columns. */
#ifndef UNBLEND_ANALYZER_TOP_TAB_H
#define UNBLEND_ANALYZER_TOP_TAB_H

#include "analyzer/top/column.h"

struct tab {
    const char *key;
    const char *title;
    const char *help;
    enum entity_kind kind;
    /* Keys of all its columns; first those that matter most, as a narrow screen shows no others. The last one but
       those behind it is for names and takes what room there is. */
    const char *columns;
    const char *name_column; /* always shown, and last but for what follows it */
    const char *sort;
    bool cluster; /* in cluster mode only */
};

extern const struct tab tabs[];
extern const unsigned tab_count;
#define TAB_PROCESSES 1 /* behind Nodes */
#define TAB_THREADS   2 /* shown in the place of Processes, when it is asked for */
#define TAB_JOBS      3

/* Whether it is in the row of tabs while another one, or itself, is shown: threads stand in for processes. */
bool tab_is_listed(unsigned tab, unsigned shown, bool cluster);

/* A tab's place by key; tab_count for none. */
unsigned tab_find(const char *key);

/* Columns of a tab as chosen, ordered and sorted by. */
#define TAB_COLUMNS_MAX 64

struct layout {
    uint8_t column[TAB_COLUMNS_MAX]; /* all of the tab's, in order */
    bool shown[TAB_COLUMNS_MAX];
    unsigned count;
    unsigned sort; /* a column of the table */
    bool reverse;
};

void layout_init(const struct tab *tab, struct layout *layout);

struct row_options {
    bool active;      /* only rows with operations */
    bool current;     /* only rows of the last sample, none that are gone or idle */
    bool since_start; /* amounts since the start instead of rates */
    bool tree;        /* processes below their jobs */
};

/* A tab's rows, sorted; *rows is malloc'ed, its entities are the model's. 0 or -ENOMEM. */
int rows_new(const struct model *model, const struct tab *tab, const struct layout *layout,
             const struct row_options *options, struct row **rows, uint32_t *count);

#endif
