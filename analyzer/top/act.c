/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys and the mouse do: whom each of them goes to. */
#include <curses.h>

#include "analyzer/top/navigate.h"
#include "analyzer/top/playback.h"
#include "analyzer/top/screen.h"
#include "analyzer/top/search.h"

static void click(struct screen *screen)
{
    uint32_t before = screen->cursor;
    MEVENT event;

    if (getmouse(&event) != OK)
        return;
    if (event.bstate & BUTTON4_PRESSED || event.bstate & BUTTON5_PRESSED) {
        enum action action = event.bstate & BUTTON4_PRESSED ? ACTION_UP : ACTION_DOWN;

        scroll_by(screen, action);
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
        prompt_begin(screen, "Search: ", screen->search, search_rows);
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
        playback_freeze(screen);
        break;
    case ACTION_FASTER:
    case ACTION_SLOWER:
        playback_pace(screen, action == ACTION_FASTER);
        break;
    case ACTION_STEP:
    case ACTION_STEP_BACK:
        playback_step(screen, action == ACTION_STEP ? 1 : -1);
        break;
    case ACTION_JUMP:
        if (screen->arguments->replay)
            prompt_begin(screen, "Time: ", "", playback_jump);
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
        scroll_by(screen, action);
    } else if (screen->mode == MODE_HELP && action != ACTION_QUIT) {
        screen->mode = MODE_TABLE;
    } else {
        act_anywhere(screen, action, number);
    }
}
