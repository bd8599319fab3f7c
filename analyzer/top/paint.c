/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/paint.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "analyzer/top/run.h"

const char *const theme_names[THEME_COUNT] = {"dark", "light", "mono"};

static attr_t inks[INK_COUNT];
static bool ascii_, colors_;

int top_theme(const char *name)
{
    for (int i = 0; i < THEME_COUNT; i++)
        if (strcmp(theme_names[i], name) == 0)
            return i;
    return -EINVAL;
}

/* Foregrounds; -1 is the terminal's own. Reading is cool, writing is warm, red is trouble and nothing else. */
static const short foregrounds[2][INK_COUNT] = {
    {-1, 8, -1, COLOR_CYAN, COLOR_YELLOW, COLOR_MAGENTA, COLOR_GREEN, COLOR_RED, -1, -1, -1, -1, COLOR_BLUE,
     COLOR_GREEN, COLOR_YELLOW, COLOR_MAGENTA, COLOR_CYAN, COLOR_WHITE},
    {-1, 8, -1, COLOR_BLUE, COLOR_MAGENTA, COLOR_GREEN, COLOR_GREEN, COLOR_RED, -1, -1, -1, -1, COLOR_BLUE,
     COLOR_GREEN, COLOR_MAGENTA, COLOR_CYAN, COLOR_YELLOW, COLOR_BLACK},
};

static void add_colors(enum theme theme)
{
    for (int i = 1; i < INK_COUNT; i++) {
        short color = foregrounds[theme][i];

        if (color >= COLORS) {
            inks[i] |= A_DIM; /* a terminal of eight colours has no grey */
        } else if (color >= 0) {
            init_pair((short)i, color, -1);
            inks[i] |= (attr_t)COLOR_PAIR(i);
        }
    }
}

void paint_theme(enum theme theme, bool ascii)
{
    const char *no_color = getenv("NO_COLOR");

    ascii_ = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    colors_ = theme != THEME_MONO && !(no_color && *no_color) && has_colors() && start_color() == OK &&
              use_default_colors() == OK && COLOR_PAIRS > INK_COUNT;
    memset(inks, 0, sizeof(inks));
    inks[INK_STRONG] = inks[INK_BAD] = A_BOLD;
    inks[INK_TITLES] = inks[INK_CURSOR] = inks[INK_TAB] = A_REVERSE;
    inks[INK_SORTED] = A_REVERSE | A_BOLD | A_UNDERLINE;
    if (colors_) {
        add_colors(theme);
    } else {
        inks[INK_DIM] = A_DIM;
    }
}

bool paint_is_ascii(void)
{
    return ascii_;
}

/* The next character, its width, and how many bytes it takes; "?" for what must not reach a terminal. */
static size_t next_character(const char *text, wchar_t *character, int *width)
{
    mbstate_t state = {0};
    size_t length = mbrtowc(character, text, MB_CUR_MAX, &state);

    if (length == 0 || length > MB_CUR_MAX) {
        *character = L'?';
        *width = 1;
        return 1;
    }
    *width = wcwidth(*character);
    if (*width < 0 || (ascii_ && *character > 0x7e)) {
        *character = L'?';
        *width = 1;
    }
    return length;
}

int text_columns(const char *text)
{
    int taken = 0, width;
    wchar_t character;

    while (*text) {
        text += next_character(text, &character, &width);
        taken += width;
    }
    return taken;
}

int put_text(int y, int x, int width, enum ink ink, bool pad, const char *text)
{
    int used = 0, taken;
    wchar_t character;

    if (y < 0 || y >= LINES || x < 0 || x >= COLS)
        return 0;
    width = width < COLS - x ? width : COLS - x;
    attrset(inks[ink]);
    move(y, x);
    while (*text) {
        text += next_character(text, &character, &taken);
        if (used + taken > width)
            break;
        if (taken)
            addnwstr(&character, 1);
        used += taken;
    }
    for (int at = used; pad && at < width; at++)
        addch(' ');
    attrset(A_NORMAL);
    return used;
}

void put_right(int y, int x, int width, enum ink ink, const char *text)
{
    int taken = text_columns(text);

    put_text(y, x + (taken < width ? width - taken : 0), taken < width ? taken : width, ink, false, text);
}

void put_ink(int y, int x, int width, enum ink ink)
{
    if (y >= 0 && y < LINES && x < COLS)
        mvchgat(y, x, width, inks[ink] & ~A_COLOR, (short)PAIR_NUMBER(inks[ink]), NULL);
}

void put_spark(int y, int x, int width, enum ink ink, const float *heights)
{
    static const wchar_t blocks[] = L" ▁▂▃▄▅▆▇█";
    static const char letters[] = " .:-=+*#@";

    if (y < 0 || y >= LINES || x >= COLS)
        return;
    attrset(inks[ink]);
    move(y, x);
    for (int i = 0; i < width && x + i < COLS; i++) {
        int level = (int)ceilf(heights[i] * 8);

        level = level < 0 ? 0 : level > 8 ? 8 : level;
        if (ascii_)
            addch((chtype)letters[level]);
        else
            addnwstr(&blocks[level], 1);
    }
    attrset(A_NORMAL);
}

void put_bar(int y, int x, int width, enum ink ink)
{
    static const wchar_t shades[MIX_INKS] = {L'█', L'▓', L'▒', L'░', L'▚', L'·'};
    static const char letters[] = "#=+o:.";
    unsigned at = (unsigned)(ink - INK_MIX) % MIX_INKS;

    if (y < 0 || y >= LINES || x >= COLS)
        return;
    attrset(inks[ink]);
    move(y, x);
    for (int i = 0; i < width && x + i < COLS; i++)
        if (ascii_)
            addch((chtype)letters[at]);
        else
            addnwstr(colors_ && at + 1 < MIX_INKS ? &shades[0] : &shades[at], 1);
    attrset(A_NORMAL);
}
