/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys and the mouse do. */
#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/top/paint.h"
#include "analyzer/top/screen.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/moment.h"
#include "lib/option.h"

#define INTERVAL_MIN_NS 100000000ull
#define INTERVAL_MAX_NS 3600000000000ull
#define SPEED_MAX       2048 /* halves */
#define DAY_NS          86400000000000LL

static struct layout *layout_of(struct screen *screen)
{
    return &screen->settings.layout[screen->tab];
}

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

static void go_to_tab(struct screen *screen, unsigned tab)
{
    if ((tab == TAB_THREADS) != (screen->tab == TAB_THREADS))
        feed_by_thread(screen->feed, tab == TAB_THREADS);
    screen->tab = tab;
    screen->cursor = screen->first = 0;
    screen->selected = (struct selection){0};
    screen->mode = MODE_TABLE;
}

static void turn_tab(struct screen *screen, unsigned by)
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

/* To the column beside the one that is sorted by, of those that are on the screen. */
static void move_sort(struct screen *screen, int by)
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

static void sort_by(struct screen *screen, unsigned at)
{
    struct layout *layout = layout_of(screen);

    if (at >= screen->fitting_count)
        return;
    if (layout->sort == screen->fitting[at])
        layout->reverse = !layout->reverse;
    layout->sort = screen->fitting[at];
}

void filter_set(struct screen *screen, const char *text)
{
    struct filter *filter;
    char why[160];
    int err = filter_new(text, &filter, why, sizeof(why));

    if (err) {
        say(screen, "filter: %s", *why ? why : log_errno(err));
        return;
    }
    screen->model->filter = filter;
    if (!filter_same_volumes(filter, screen->filter) && screen->sample.batch) {
        /* other records count now: what was known of all the others is void, and who stood in the rows is gone */
        free(screen->rows);
        screen->rows = NULL;
        screen->row_count = 0;
        model_reset(screen->model);
        screen->model->filter = filter;
        err = model_add(screen->model, &screen->sample);
        if (err)
            say(screen, "filter: %s", log_errno(err));
    }
    filter_free(screen->filter);
    screen->filter = filter;
    snprintf(screen->filter_text, sizeof(screen->filter_text), "%s", filter ? text : "");
    screen->cursor = screen->first = 0;
    screen->selected = (struct selection){0};
}

static void filter_user(struct screen *screen, const char *text)
{
    char words[PROMPT_SIZE + 8];

    snprintf(words, sizeof(words), *text ? "user:%s" : "%s", text);
    filter_set(screen, words);
}

/* The next row below the cursor that has it in its name. */
static void search(struct screen *screen, const char *text)
{
    snprintf(screen->search, sizeof(screen->search), "%s", text);
    for (uint32_t i = 1; *text && i <= screen->row_count; i++) {
        uint32_t at = (screen->cursor + i) % screen->row_count;
        const struct entity *e = screen->rows[at].entity;

        if (strcasestr(e->name, text) || strcasestr(e->job, text) || strcasestr(e->user, text) ||
            strcasestr(e->mounts, text)) {
            select_row(screen, at);
            return;
        }
    }
    if (*text)
        say(screen, "no row has '%s' in its name", text);
}

/* "14:05", "14:05:30" of the day that is shown, "+30s", "-5m", or a full time. */
static void jump(struct screen *screen, const char *text)
{
    int64_t now = screen->model->end_ns, to;
    unsigned hours, minutes, seconds = 0;
    char rest;
    uint64_t span;
    int fields = sscanf(text, "%2u:%2u:%2u%c", &hours, &minutes, &seconds, &rest);

    if (!*text)
        return;
    if ((*text == '+' || *text == '-') && option_duration(text + 1, &span) == 0)
        to = now + (*text == '+' ? 1 : -1) * (int64_t)span - (int64_t)(screen->model->seconds * 1e9);
    else if ((fields == 2 || fields == 3) && hours < 24 && minutes < 60 && seconds < 60)
        to = now - now % DAY_NS + (hours * 3600LL + minutes * 60 + seconds) * 1000000000LL;
    else if (moment_parse(text, now, &to) != 0) {
        say(screen, "'%s' is no time: 14:05, 14:05:30, +30s, -5m or 2026-03-01T12:00:00Z", text);
        return;
    }
    feed_seek(screen->feed, to);
}

static void step(struct screen *screen, int by)
{
    const struct batch *batch = screen->sample.batch;

    if (!screen->arguments->replay) {
        say(screen, "only a replay has other samples: --replay FILE");
        return;
    }
    screen->frozen = true;
    feed_pause(screen->feed, true);
    if (by > 0) {
        feed_step(screen->feed);
    } else {
        /* pressed again before it has come, it is one more */
        screen->target_ns =
            screen->target_ns ? screen->target_ns - batch->interval_ms * 1000000LL : batch->start_ns - 1;
        feed_seek(screen->feed, screen->target_ns);
    }
}

static void freeze(struct screen *screen)
{
    screen->frozen = !screen->frozen;
    feed_pause(screen->feed, screen->frozen);
    if (!screen->frozen && screen->held.batch) {
        int err = screen_take(screen, &screen->held, false);

        if (err)
            say(screen, "cannot go on: %s", log_errno(err));
    }
}

static void change_pace(struct screen *screen, bool faster)
{
    uint64_t interval = screen->interval_ns;

    if (screen->arguments->replay) {
        uint64_t speed = faster ? screen->speed_halves * 2 : screen->speed_halves / 2;

        screen->speed_halves = speed < 1 ? 1 : speed > SPEED_MAX ? SPEED_MAX : speed;
        feed_speed(screen->feed, (double)screen->speed_halves / 2);
        return;
    }
    /* 0.1, 0.2, 0.5, 1, 2, 5, ...: steps that are read at a glance */
    for (uint64_t step = INTERVAL_MIN_NS, i = 0; step <= INTERVAL_MAX_NS; step = step * (i++ % 3 == 1 ? 5 : 4) / 2)
        if (faster ? step < interval : step > interval) {
            screen->interval_ns = step;
            if (!faster)
                break;
        } else if (faster) {
            break;
        }
    feed_interval(screen->feed, screen->interval_ns);
}

static void open_detail(struct screen *screen)
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

static void go_back(struct screen *screen)
{
    if (screen->mode != MODE_TABLE) {
        screen->mode = MODE_TABLE;
        detail_clear(&screen->detail);
    } else {
        filter_set(screen, "");
    }
}

/* Threads or processes; of a process that is looked at, its threads. */
static void show_threads(struct screen *screen)
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

static void click(struct screen *screen)
{
    uint32_t before = screen->cursor;
    MEVENT event;

    if (getmouse(&event) != OK)
        return;
    if (event.bstate & BUTTON4_PRESSED || event.bstate & BUTTON5_PRESSED) {
        enum action action = event.bstate & BUTTON4_PRESSED ? ACTION_UP : ACTION_DOWN;

        (screen->mode == MODE_TABLE ? scroll_rows : scroll_page)(screen, action);
        return;
    }
    if (!(event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED)))
        return;
    if (event.y == screen->tab_y) {
        for (unsigned i = tab_count; i-- > 0;)
            if (screen->tab_x[i] >= 0 && event.x >= screen->tab_x[i]) {
                go_to_tab(screen, i);
                return;
            }
    }
    if (screen->mode != MODE_TABLE)
        return;
    if (event.y == screen->table_y - 1) {
        for (unsigned i = screen->fitting_count; i-- > 0;)
            if (event.x >= screen->column_x[i]) {
                sort_by(screen, i);
                return;
            }
    }
    if (event.y >= screen->table_y && event.y < screen->table_y + screen->table_height) {
        uint32_t at = screen->first + (uint32_t)(event.y - screen->table_y);

        if (at >= screen->row_count)
            return;
        select_row(screen, at);
        if ((at == before && screen->taken && *screen->selected.name && event.bstate & BUTTON1_PRESSED) ||
            event.bstate & BUTTON1_DOUBLE_CLICKED)
            open_detail(screen);
    }
}

static void show_help(struct screen *screen)
{
    if (page_help(screen))
        return;
    screen->mode = MODE_HELP;
    screen->first_line = 0;
}

static void act_on_rows(struct screen *screen, enum action action, unsigned number)
{
    switch (action) {
    case ACTION_SORT_LEFT:
    case ACTION_SORT_RIGHT:
        move_sort(screen, action == ACTION_SORT_LEFT ? -1 : 1);
        break;
    case ACTION_NUMBER:
        sort_by(screen, number);
        break;
    case ACTION_SORT:
        sort_begin(screen);
        break;
    case ACTION_REVERSE:
        layout_of(screen)->reverse = !layout_of(screen)->reverse;
        break;
    case ACTION_ACTIVE:
        screen->options.active = !screen->options.active;
        break;
    case ACTION_SINCE_START:
        screen->options.since_start = !screen->options.since_start;
        break;
    case ACTION_COMMAND:
        screen->command_lines = !screen->command_lines;
        if (screen->command_lines && !screen->arguments->local)
            say(screen, "records hold no arguments: command lines are known of this node's living processes only");
        break;
    case ACTION_KILOBYTES:
        screen->kilobytes = !screen->kilobytes;
        break;
    case ACTION_TREE:
        if (tabs[screen->tab].kind > ENTITY_THREAD)
            go_to_tab(screen, TAB_PROCESSES);
        screen->options.tree = !screen->options.tree;
        break;
    case ACTION_SEARCH:
        prompt_begin(screen, "Search: ", screen->search, search);
        break;
    case ACTION_FILTER:
        prompt_begin(screen, "Filter: ", screen->filter_text, filter_set);
        break;
    case ACTION_USER:
        prompt_begin(screen, "User (none for all): ", "", filter_user);
        break;
    case ACTION_SETUP:
        screen->mode = MODE_SETUP;
        screen->list_cursor = 0;
        break;
    default:
        break;
    }
}

static void act_anywhere(struct screen *screen, enum action action, unsigned number)
{
    switch (action) {
    case ACTION_QUIT:
        screen->quit = true;
        break;
    case ACTION_HELP:
        show_help(screen);
        break;
    case ACTION_NEXT_TAB:
        turn_tab(screen, 1);
        break;
    case ACTION_PREVIOUS_TAB:
        turn_tab(screen, tab_count - 1);
        break;
    case ACTION_DETAIL:
        open_detail(screen);
        break;
    case ACTION_BACK:
        go_back(screen);
        break;
    case ACTION_FREEZE:
        freeze(screen);
        break;
    case ACTION_FASTER:
    case ACTION_SLOWER:
        change_pace(screen, action == ACTION_FASTER);
        break;
    case ACTION_STEP:
    case ACTION_STEP_BACK:
        step(screen, action == ACTION_STEP ? 1 : -1);
        break;
    case ACTION_JUMP:
        if (screen->arguments->replay)
            prompt_begin(screen, "Time: ", "", jump);
        else
            say(screen, "only in a replay one can go to a time: --replay FILE");
        break;
    case ACTION_RECORD:
        tape_toggle(screen);
        break;
    case ACTION_FILES:
        detail_files(screen);
        break;
    case ACTION_THREADS:
        show_threads(screen);
        break;
    case ACTION_REDRAW:
        clearok(stdscr, TRUE);
        break;
    case ACTION_MOUSE:
        click(screen);
        break;
    default:
        if (screen->mode == MODE_TABLE)
            act_on_rows(screen, action, number);
    }
}

void act(struct screen *screen, int code)
{
    unsigned number = 0;
    enum action action = key_action(code, &number);

    *screen->message = '\0';
    if (screen->mode == MODE_PROMPT) {
        prompt_key(screen, code);
    } else if ((screen->mode == MODE_SETUP || screen->mode == MODE_SORT) && action != ACTION_REDRAW) {
        setup_key(screen, code);
    } else if (action >= ACTION_UP && action <= ACTION_LAST) {
        (screen->mode == MODE_TABLE ? scroll_rows : scroll_page)(screen, action);
    } else if (screen->mode == MODE_HELP && action != ACTION_QUIT) {
        screen->mode = MODE_TABLE;
    } else {
        act_anywhere(screen, action, number);
    }
}
