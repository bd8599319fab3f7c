/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words typed at a prompt that choose rows: those that are shown, and the one that is sought. What cannot be done is
   said below the table. */
#ifndef UNBLEND_ANALYZER_TOP_SEARCH_H
#define UNBLEND_ANALYZER_TOP_SEARCH_H

#include "analyzer/top/screen.h"

/* Takes words as the filter, "" for none; one that is wrong changes nothing. */
void filter_set(struct screen *screen, const char *text);
/* A user's name as the filter, "" for all. */
void filter_user(struct screen *screen, const char *text);

/* Selects the next row below the cursor that has it in its name. */
void search_rows(struct screen *screen, const char *text);

#endif
