/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows and their titles, and the line at the bottom. */
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/top/paint.h"
#include "analyzer/top/screen.h"
#include "analyzer/top/stuck.h"
#include "lib/cleanup.h"

#define SLOW_NS 100e6 /* times from there on stand out */

static enum ink ink_of(const struct column *column, const struct row *row, double value)
{
    if (isnan(value) || !(value > 0))
        return INK_DIM; /* what is nothing recedes */
    switch (column->paint) {
    case PAINT_READ:
        return INK_READ;
    case PAINT_WRITE:
        return INK_WRITE;
    case PAINT_METADATA:
        return INK_METADATA;
    case PAINT_BAD:
        return column->unit == UNIT_TIME && value < 1e9 ? INK_PLAIN : INK_BAD;
    case PAINT_TIME:
        return value >= SLOW_NS ? INK_STRONG : INK_PLAIN;
    case PAINT_PLAIN:
    case PAINT_PROFILE:
        break;
    }
    return row->seconds > 0 ? INK_PLAIN : INK_DIM;
}

/* The arguments of a process of this node, from /proc: they are nowhere else. */
static bool command_line(const struct row *row, char *buffer, size_t size)
{
    char path[64];
    _cleanup_close_ int fd = -1;
    ssize_t got;

    snprintf(path, sizeof(path), "/proc/%u/cmdline", row->entity->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? -1 : read(fd, buffer, size - 1);
    if (got <= 0)
        return false;
    for (ssize_t i = 0; i < got; i++)
        if (!buffer[i])
            buffer[i] = ' ';
    buffer[got] = '\0';
    return true;
}

static void put_name(const struct screen *screen, const struct column *column, const struct row *row, int y, int x,
                     int width, enum ink ink)
{
    const char *text = column->text(row);
    char line[512];
    bool name = strcmp(column->key, tabs[screen->tab].name_column) == 0;

    if (name && screen->options.tree && tabs[screen->tab].kind <= ENTITY_THREAD) {
        const char *branch = row->depth ? paint_is_ascii() ? "`- " : "└─ " : "";

        x += put_text(y, x, width, INK_DIM, false, branch);
        width -= text_columns(branch);
        ink = row->depth ? ink : INK_STRONG;
    }
    if (name && screen->command_lines && entity_is_somebody(row->entity) && row->entity->pid &&
        screen->arguments->local && command_line(row, line, sizeof(line)))
        text = line;
    put_text(y, x, width, *text ? ink : INK_DIM, false, *text ? text : "-");
}

static void put_cell(const struct screen *screen, const struct row *row, unsigned at, int y)
{
    const struct column *column = &columns[screen->fitting[at]];
    int x = screen->column_x[at], width = column_width(column, screen->kilobytes);
    bool gone = row->entity->exited || !entity_is_current(row->model, row->entity);
    bool idle = gone || row->entity->active != row->model->sample;
    char buffer[COLUMN_CELL];

    if (column->unit == UNIT_SPARK) {
        float heights[HISTORY_SECONDS];

        column_spark(row, (unsigned)width, heights);
        put_spark(y, x, width, gone ? INK_DIM : INK_GOOD, heights);
    } else if (column->unit == UNIT_TEXT) {
        put_name(screen, column, row, y, x, at + 1 < screen->fitting_count ? width : COLS - x,
                 idle && !row->since_start ? INK_DIM : INK_PLAIN);
    } else {
        put_right(y, x, width, gone && !row->since_start ? INK_DIM : ink_of(column, row, column_value(column, row)),
                  column_format(column, row, screen->kilobytes, buffer));
    }
}

static void put_titles(struct screen *screen, int y)
{
    const struct layout *layout = &screen->settings.layout[screen->tab];
    int x = 0;

    put_text(y, 0, COLS, INK_TITLES, true, "");
    for (unsigned i = 0; i < screen->fitting_count; i++) {
        const struct column *column = &columns[screen->fitting[i]];
        int width = column_width(column, screen->kilobytes);
        enum ink ink = screen->fitting[i] == layout->sort ? INK_SORTED : INK_TITLES;
        char title[COLUMN_CELL];

        screen->column_x[i] = x;
        column_title(column, screen->options.since_start, title);
        if (column->unit == UNIT_TEXT || column->unit == UNIT_SPARK)
            put_text(y, x, COLS - x, ink, false, title);
        else
            put_right(y, x, width, ink, title);
        x += width + 1;
    }
}

/* The cursor stays with whom it is on, wherever the row goes. */
static void find_cursor(struct screen *screen)
{
    const struct selection *s = &screen->selected;

    for (uint32_t i = 0; *s->name && i < screen->row_count; i++) {
        const struct entity *e = screen->rows[i].entity;

        if (e->kind == s->kind && e->pid == s->pid && e->tid == s->tid && e->start_ns == s->start_ns &&
            (e->pid || strcmp(e->name, s->name) == 0) && strcmp(e->volume, s->volume) == 0) {
            screen->cursor = i;
            return;
        }
    }
    screen->cursor = screen->cursor < screen->row_count ? screen->cursor
                     : screen->row_count                ? screen->row_count - 1
                                                        : 0;
}

static void scroll_to_cursor(struct screen *screen)
{
    uint32_t height = screen->table_height > 0 ? (uint32_t)screen->table_height : 1;

    if (screen->cursor < screen->first)
        screen->first = screen->cursor;
    if (screen->cursor >= screen->first + height)
        screen->first = screen->cursor - height + 1;
    if (screen->first + height > screen->row_count)
        screen->first = screen->row_count > height ? screen->row_count - height : 0;
}

int table_paint(struct screen *screen, int y)
{
    const struct tab *tab = &tabs[screen->tab];
    const struct layout *layout = &screen->settings.layout[screen->tab];
    int err;

    free(screen->rows);
    screen->rows = NULL;
    screen->row_count = 0;
    err = rows_new(screen->model, tab, layout, &screen->options, &screen->rows, &screen->row_count);
    if (err)
        return err;
    screen->fitting_count = fit_columns(tab, layout, screen->kilobytes, (unsigned)COLS, screen->fitting);
    put_titles(screen, y);
    screen->table_y = y + 1;
    screen->table_height = LINES - screen->table_y - (LINES >= 8);
    find_cursor(screen);
    scroll_to_cursor(screen);
    if (!screen->row_count)
        put_text(screen->table_y, 2, COLS - 2, INK_DIM, false,
                 *screen->filter_text ? "nothing matches the filter" : "nothing to show");
    for (int i = 0; i < screen->table_height && screen->first + (uint32_t)i < screen->row_count; i++) {
        uint32_t at = screen->first + (uint32_t)i;

        for (unsigned k = 0; k < screen->fitting_count; k++)
            put_cell(screen, &screen->rows[at], k, screen->table_y + i);
        if (at == screen->cursor)
            put_ink(screen->table_y + i, 0, COLS, INK_CURSOR);
    }
    return 0;
}

void footer_paint(struct screen *screen)
{
    static const char *const labels[] = {"F1", "Help", "F2", "Setup", "F3", "Search", "F4", "Filter", "F5", "Tree",
                                         "F6", "Sort", "Enter", "Detail", "F10", "Quit"};
    char text[512];
    int y = LINES - 1, x = 0;

    if (LINES < 8 && !*screen->message)
        return;
    move(y, 0);
    clrtoeol();
    stuck_line(screen->sample.batch, text, sizeof(text));
    if (*screen->message || *text) {
        put_text(y, 0, COLS, *screen->message ? INK_STRONG : INK_BAD, false, *screen->message ? screen->message : text);
        return;
    }
    for (unsigned i = 0; i < sizeof(labels) / sizeof(*labels) && x + 12 < COLS; i += 2) {
        x += put_text(y, x, COLS - x, INK_STRONG, false, labels[i]);
        x += put_text(y, x, COLS - x, INK_DIM, false, " ");
        x += put_text(y, x, COLS - x, INK_DIM, false, labels[i + 1]) + 2;
    }
    snprintf(text, sizeof(text), "%u of %u", screen->row_count ? screen->cursor + 1 : 0, screen->row_count);
    if (COLS - x > 12)
        put_right(y, x, COLS - x, INK_DIM, text);
}
