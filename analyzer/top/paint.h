/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text, colours and small drawings on the terminal: the only file that knows curses' attributes. */
#ifndef UNBLEND_ANALYZER_TOP_PAINT_H
#define UNBLEND_ANALYZER_TOP_PAINT_H

#include <stdbool.h>

enum theme { THEME_DARK, THEME_LIGHT, THEME_MONO, THEME_COUNT };

extern const char *const theme_names[THEME_COUNT];

/* What a colour means; the same everywhere. */
enum ink {
    INK_PLAIN,
    INK_DIM,
    INK_STRONG,
    INK_READ,
    INK_WRITE,
    INK_METADATA,
    INK_GOOD,
    INK_BAD,
    INK_TITLES,
    INK_SORTED, /* of the titles, the column that is sorted by */
    INK_TAB,
    INK_CURSOR,
    INK_MIX, /* the first of MIX_INKS */
    INK_COUNT = INK_MIX + 6
};

#define MIX_INKS 6

/* Chooses colours, as far as the terminal has them. */
void paint_theme(enum theme theme, bool ascii);
bool paint_is_ascii(void);

/* Text from outside at (y, x), cut to the width and, if pad, filled up to it; control characters become "?".
   Returns the columns used. */
int put_text(int y, int x, int width, enum ink ink, bool pad, const char *text);
/* The same at the right of the width. */
void put_right(int y, int x, int width, enum ink ink, const char *text);
/* Lays an ink over columns that are there. */
void put_ink(int y, int x, int width, enum ink ink);

/* Columns that a text takes. */
int text_columns(const char *text);

/* Heights from 0 to 1, one column each. */
void put_spark(int y, int x, int width, enum ink ink, const float *heights);
/* One part of a bar, so many columns of it; without colours each of the inks has a letter. */
void put_bar(int y, int x, int width, enum ink ink);

#endif
