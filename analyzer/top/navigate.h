/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where one is on the screen: the tab, the row, the column that is sorted by, and the page in front of the table. What
   cannot be done is said below the table. */
#ifndef UNBLEND_ANALYZER_TOP_NAVIGATE_H
#define UNBLEND_ANALYZER_TOP_NAVIGATE_H

#include "analyzer/top/screen.h"

/* To a tab, with the first of its rows in sight; or to one that many further on, of those that are listed. */
void go_to_tab(struct screen *screen, unsigned tab);
void turn_tab(struct screen *screen, unsigned by);

/* A row as painted last; none if there are fewer. */
void select_row(struct screen *screen, uint32_t at);
/* The selected entity, or that of the details; NULL when it is gone. */
const struct entity *selected_entity(const struct screen *screen);

/* By the column at that place on the screen; the other way round if it is that one already. */
void sort_by(struct screen *screen, unsigned at);
/* To the column beside the one that is sorted by, of those that are on the screen. */
void move_sort(struct screen *screen, int by);

/* Details of the row under the cursor, or back from them. */
void open_detail(struct screen *screen);
/* From a page to the table; from there, to the table without a filter. */
void go_back(struct screen *screen);
/* Threads or processes; of a process that is looked at, its threads. */
void show_threads(struct screen *screen);

/* ACTION_UP to ACTION_LAST, of the table or the page. */
void scroll_by(struct screen *screen, enum action action);

#endif
