/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one table of keys: what is pressed, what it does, and the words for it in the help page and the manual. */
#ifndef UNBLEND_ANALYZER_TOP_KEYS_H
#define UNBLEND_ANALYZER_TOP_KEYS_H

enum action {
    ACTION_NONE,
    ACTION_QUIT,
    ACTION_HELP,
    ACTION_SETUP,
    ACTION_SEARCH,
    ACTION_FILTER,
    ACTION_TREE,
    ACTION_SORT,
    ACTION_NEXT_TAB,
    ACTION_PREVIOUS_TAB,
    ACTION_UP,
    ACTION_DOWN,
    ACTION_PAGE_UP,
    ACTION_PAGE_DOWN,
    ACTION_FIRST,
    ACTION_LAST,
    ACTION_DETAIL,
    ACTION_BACK,
    ACTION_SORT_LEFT,
    ACTION_SORT_RIGHT,
    ACTION_REVERSE,
    ACTION_NUMBER,
    ACTION_ACTIVE,
    ACTION_SINCE_START,
    ACTION_COMMAND,
    ACTION_KILOBYTES,
    ACTION_USER,
    ACTION_FREEZE,
    ACTION_FASTER,
    ACTION_SLOWER,
    ACTION_STEP,
    ACTION_STEP_BACK,
    ACTION_JUMP,
    ACTION_RECORD,
    ACTION_FILES,
    ACTION_THREADS,
    ACTION_REDRAW,
    ACTION_MOUSE,
    ACTION_COUNT
};

struct key {
    enum action action;
    int code[4];      /* of curses; 0 ends them */
    const char *name; /* as people call them */
    const char *help;
};

extern const struct key keys[];
extern const unsigned key_count;

/* What a key does; *number of ACTION_NUMBER is which. */
enum action key_action(int code, unsigned *number);

#endif
