/* SPDX-License-Identifier: GPL-2.0-or-later */
/* F2: which columns, in which order, and the theme. F6: which column to sort by. */
#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/top/paint.h"
#include "analyzer/top/screen.h"
#include "lib/cleanup.h"
#include "lib/log.h"

#define EXTRA_LINES 2 /* theme and ASCII, above the columns */

void sort_begin(struct screen *screen)
{
    const struct layout *layout = layout_of(screen);

    screen->mode = MODE_SORT;
    screen->list_cursor = 0;
    for (unsigned i = 0; i < layout->count; i++)
        if (layout->column[i] == layout->sort)
            screen->list_cursor = i;
}

static void put_extra(const struct screen *screen, int y, unsigned at)
{
    char text[64];

    if (at == 0)
        snprintf(text, sizeof(text), "Theme: %s", theme_names[screen->settings.theme]);
    else
        snprintf(text, sizeof(text), "[%c] ASCII only", screen->settings.ascii ? 'x' : ' ');
    put_text(y, 0, COLS, INK_PLAIN, true, text);
}

void setup_paint(struct screen *screen, int y)
{
    const struct layout *layout = layout_of(screen);
    bool setup = screen->mode == MODE_SETUP;
    unsigned extra = setup ? EXTRA_LINES : 0, count = layout->count + extra;
    int height = LINES - y - 2;
    unsigned first = height > 0 && screen->list_cursor >= (unsigned)height ? screen->list_cursor - (unsigned)height + 1
                                                                           : 0;
    char text[256];

    snprintf(text, sizeof(text), setup ? "Setup of %s" : "Sort %s by", tabs[screen->tab].title);
    put_text(y++, 0, COLS, INK_TITLES, true, text);
    for (unsigned i = first; i < count && y < LINES - 1; i++, y++) {
        if (i < extra) {
            put_extra(screen, y, i);
        } else {
            const struct column *column = &columns[layout->column[i - extra]];
            char mark = setup ? (layout->shown[i - extra] ? 'x' : ' ') : layout->column[i] == layout->sort ? '*' : ' ';

            snprintf(text, sizeof(text), "[%c] %-9s %s", mark, column->title, column->help);
            put_text(y, 0, COLS, mark == ' ' ? INK_DIM : INK_PLAIN, true, text);
        }
        if (i == screen->list_cursor)
            put_ink(y, 0, COLS, INK_CURSOR);
    }
    put_text(LINES - 1, 0, COLS, INK_DIM, false,
             setup ? "Space shows or hides   + - move   Esc keeps it" : "Enter sorts by it   Esc leaves it as it is");
}

static void swap(struct layout *layout, unsigned a, unsigned b)
{
    uint8_t column = layout->column[a];
    bool shown = layout->shown[a];

    layout->column[a] = layout->column[b];
    layout->shown[a] = layout->shown[b];
    layout->column[b] = column;
    layout->shown[b] = shown;
}

static void save(struct screen *screen)
{
    _cleanup_free_ char *path = NULL;
    int err = settings_save(&screen->settings, &path);

    if (err)
        say(screen, "cannot keep the settings%s%s: %s", path ? " in " : "", path ? path : "", log_errno(err));
    else
        say(screen, "kept in %s", path);
}

static void toggle(struct screen *screen)
{
    struct layout *layout = layout_of(screen);
    unsigned at = screen->list_cursor;

    if (at >= EXTRA_LINES) {
        layout->shown[at - EXTRA_LINES] = !layout->shown[at - EXTRA_LINES];
        return;
    }
    if (at == 0)
        screen->settings.theme = (screen->settings.theme + 1) % THEME_COUNT;
    else
        screen->settings.ascii = !screen->settings.ascii;
    paint_theme(screen->settings.theme, screen->settings.ascii);
}

static void move_column(struct screen *screen, int by)
{
    struct layout *layout = layout_of(screen);
    int at = (int)screen->list_cursor - EXTRA_LINES, to = at + by;

    if (at < 0 || to < 0 || to >= (int)layout->count)
        return;
    swap(layout, (unsigned)at, (unsigned)to);
    screen->list_cursor = (unsigned)(to + EXTRA_LINES);
}

void setup_key(struct screen *screen, int code)
{
    bool setup = screen->mode == MODE_SETUP;
    unsigned count = layout_of(screen)->count + (setup ? EXTRA_LINES : 0), number;
    unsigned page = LINES > 4 ? (unsigned)LINES / 2 : 1;

    if (setup && (code == '+' || code == '=' || code == '-' || code == '_')) {
        move_column(screen, code == '+' || code == '=' ? -1 : 1);
        return;
    }
    if (setup && (code == ' ' || code == '\n' || code == '\r' || code == KEY_ENTER)) {
        toggle(screen);
        return;
    }
    switch (key_action(code, &number)) {
    case ACTION_UP:
        screen->list_cursor -= screen->list_cursor > 0;
        break;
    case ACTION_DOWN:
        screen->list_cursor += screen->list_cursor + 1 < count;
        break;
    case ACTION_PAGE_UP:
        screen->list_cursor -= screen->list_cursor < page ? screen->list_cursor : page;
        break;
    case ACTION_PAGE_DOWN:
        screen->list_cursor = screen->list_cursor + page < count ? screen->list_cursor + page : count - 1;
        break;
    case ACTION_FIRST:
        screen->list_cursor = 0;
        break;
    case ACTION_LAST:
        screen->list_cursor = count - 1;
        break;
    case ACTION_DETAIL:
        layout_of(screen)->sort = layout_of(screen)->column[screen->list_cursor];
        screen->mode = MODE_TABLE;
        break;
    case ACTION_BACK:
    case ACTION_SETUP:
    case ACTION_QUIT:
        screen->mode = MODE_TABLE;
        if (setup)
            save(screen);
        break;
    default:
        break;
    }
}
