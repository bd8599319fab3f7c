/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/navigate.h"

#include <curses.h>
#include <stdio.h>

#include "analyzer/top/search.h"
#include "lib/log.h"

void select_row(struct screen *screen, uint32_t at)
{
    const struct entity *e;

    if (at >= screen->row_count)
        return;
    screen->cursor = at;
    e = screen->rows[at].entity;
    screen->selected = (struct selection){.kind = e->kind, .pid = e->pid, .tid = e->tid, .start_ns = e->start_ns};
    snprintf(screen->selected.name, sizeof(screen->selected.name), "%s", e->name);
    snprintf(screen->selected.volume, sizeof(screen->selected.volume), "%s", e->volume);
}

const struct entity *selected_entity(const struct screen *screen)
{
    const struct selection *s = screen->mode == MODE_DETAIL || screen->detail.who.name[0] ? &screen->detail.who
                                                                                          : &screen->selected;
    const struct entity like = {.kind = s->kind, .pid = s->pid, .tid = s->tid, .start_ns = s->start_ns,
                                .name = s->name, .volume = s->volume};

    return *s->name ? model_find(screen->model, &like) : NULL;
}

void go_to_tab(struct screen *screen, unsigned tab)
{
    if ((tab == TAB_THREADS) != (screen->tab == TAB_THREADS))
        feed_by_thread(screen->feed, tab == TAB_THREADS);
    screen->tab = tab;
    screen->cursor = screen->first = 0;
    screen->selected = (struct selection){0};
    screen->mode = MODE_TABLE;
}

void turn_tab(struct screen *screen, unsigned by)
{
    unsigned tab = screen->tab;

    do
        tab = (tab + by) % tab_count;
    while (!tab_is_listed(tab, TAB_PROCESSES, screen->arguments->cluster));
    go_to_tab(screen, tab);
}

static void move_cursor(struct screen *screen, int64_t by)
{
    int64_t to = (int64_t)screen->cursor + by, last = (int64_t)screen->row_count - 1;

    if (last >= 0)
        select_row(screen, (uint32_t)(to < 0 ? 0 : to > last ? last : to));
}

void move_sort(struct screen *screen, int by)
{
    struct layout *layout = layout_of(screen);

    for (unsigned i = 0; i < screen->fitting_count; i++)
        if (screen->fitting[i] == layout->sort) {
            int to = (int)i + by;

            if (to >= 0 && to < (int)screen->fitting_count)
                layout->sort = screen->fitting[to];
            return;
        }
}

void sort_by(struct screen *screen, unsigned at)
{
    struct layout *layout = layout_of(screen);

    if (at >= screen->fitting_count)
        return;
    if (layout->sort == screen->fitting[at])
        layout->reverse = !layout->reverse;
    layout->sort = screen->fitting[at];
}

void open_detail(struct screen *screen)
{
    int err;

    if (screen->mode == MODE_DETAIL) {
        screen->mode = MODE_TABLE;
        detail_clear(&screen->detail);
        return;
    }
    if (screen->cursor >= screen->row_count)
        return;
    select_row(screen, screen->cursor);
    screen->mode = MODE_DETAIL;
    screen->first_line = 0;
    detail_begin(screen);
    err = screen->sample.batch ? detail_add(screen, screen->sample.batch) : 0;
    if (err)
        say(screen, "details: %s", log_errno(err));
}

void go_back(struct screen *screen)
{
    if (screen->mode != MODE_TABLE) {
        screen->mode = MODE_TABLE;
        detail_clear(&screen->detail);
    } else {
        filter_set(screen, "");
    }
}

void show_threads(struct screen *screen)
{
    char words[32];

    if (!feed_has_threads(screen->feed)) {
        say(screen, "n/a: %s: threads are told apart on the node itself",
            screen->arguments->cluster ? "a collector knows jobs only" : "recordings hold no threads");
    } else if (screen->mode == MODE_DETAIL && screen->detail.who.kind == ENTITY_PROCESS && screen->detail.who.pid) {
        snprintf(words, sizeof(words), "pid:%u", screen->detail.who.pid);
        go_back(screen);
        filter_set(screen, words);
        go_to_tab(screen, TAB_THREADS);
    } else if (screen->mode == MODE_TABLE) {
        go_to_tab(screen, screen->tab == TAB_THREADS ? TAB_PROCESSES : TAB_THREADS);
    }
}

static void scroll_page(struct screen *screen, enum action action)
{
    uint32_t page = LINES > 8 ? (uint32_t)LINES - 8 : 1;

    if (action == ACTION_UP || action == ACTION_PAGE_UP) {
        uint32_t by = action == ACTION_UP ? 1 : page;

        screen->first_line -= by < screen->first_line ? by : screen->first_line;
    } else if (action == ACTION_DOWN || action == ACTION_PAGE_DOWN) {
        screen->first_line += action == ACTION_DOWN ? 1 : page; /* painting keeps it inside */
    } else {
        screen->first_line = action == ACTION_FIRST ? 0 : screen->line_count;
    }
}

static void scroll_rows(struct screen *screen, enum action action)
{
    int64_t page = screen->table_height > 1 ? screen->table_height - 1 : 1;

    switch (action) {
    case ACTION_UP:
    case ACTION_DOWN:
        move_cursor(screen, action == ACTION_UP ? -1 : 1);
        break;
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
        move_cursor(screen, action == ACTION_PAGE_UP ? -page : page);
        break;
    default:
        move_cursor(screen, action == ACTION_FIRST ? -(int64_t)screen->row_count : (int64_t)screen->row_count);
    }
}

void scroll_by(struct screen *screen, enum action action)
{
    (screen->mode == MODE_TABLE ? scroll_rows : scroll_page)(screen, action);
}
