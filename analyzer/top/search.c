/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/top/navigate.h"
#include "lib/log.h"

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

void filter_user(struct screen *screen, const char *text)
{
    char words[PROMPT_SIZE + 8];

    snprintf(words, sizeof(words), *text ? "user:%s" : "%s", text);
    filter_set(screen, words);
}

void search_rows(struct screen *screen, const char *text)
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
