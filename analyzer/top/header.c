/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is always visible: where and when, totals, the last minute, the blend, and what could not be seen. */
#include <curses.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/classify.h"
#include "analyzer/human.h"
#include "analyzer/top/paint.h"
#include "analyzer/top/screen.h"

#define SMALL_LINES 12
#define SPARK_WIDTH 20
#define FILTER_ROOM 12

/* The total in a column; "n/a" where it was not watched. */
static const char *cell(const struct screen *screen, const char *key, char *buffer)
{
    const struct model *model = screen->model;
    struct row row = row_of(model, &model->total, screen->options.since_start);
    const struct column *column = &columns[column_find(key, strlen(key))];

    column_format(column, &row, false, buffer);
    return strcmp(buffer, "-") == 0 && (column->needs & model->unknown) ? strcpy(buffer, "n/a") : buffer;
}

/* "LIVE 1 s", "REPLAY 2x", and what else is going on. */
static void put_state(const struct screen *screen, int y)
{
    const struct top_arguments *a = screen->arguments;
    char text[128], span[HUMAN_SIZE];

    /* a node's own intervals may be longer than what is asked for */
    human_duration(span, fmax((double)screen->interval_ns / 1e9, screen->sample.batch->interval_ms / 1e3));
    if (a->replay)
        snprintf(text, sizeof(text), "replay %gx", (double)screen->speed_halves / 2);
    else
        snprintf(text, sizeof(text), "every %s", span);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s", screen->tape ? "  REC" : "",
             screen->ended ? "  END" : "", screen->frozen ? "  FROZEN" : "");
    put_right(y, COLS / 2, COLS - COLS / 2, screen->frozen || screen->tape ? INK_STRONG : INK_DIM, text);
}

static void put_where(const struct screen *screen, int y)
{
    const struct batch *batch = screen->sample.batch;
    char text[256], time[HUMAN_SIZE], span[HUMAN_SIZE];
    int x = put_text(y, 0, COLS, INK_STRONG, false, "unblend top  ");

    human_time(time, screen->model->end_ns);
    human_duration(span, screen->options.since_start ? screen->model->sum_seconds : screen->model->seconds);
    if (screen->arguments->cluster)
        snprintf(text, sizeof(text), "%u nodes", screen->sample.node_count);
    else
        snprintf(text, sizeof(text), "%.60s", batch->node);
    x += put_text(y, x, COLS - x, INK_PLAIN, false, text);
    snprintf(text, sizeof(text), "  %.8s UTC  %s %s", time + 11, screen->options.since_start ? "amounts over" : "over",
             span);
    put_text(y, x, COLS - x, INK_DIM, false, text);
    put_state(screen, y);
}

static int put_pair(int y, int x, const char *label, enum ink ink, const char *value, int width)
{
    char text[2 * COLUMN_CELL + 64];

    x += put_text(y, x, COLS - x, INK_DIM, false, label);
    snprintf(text, sizeof(text), "%*s  ", width, value);
    return x + put_text(y, x, COLS - x, ink, false, text);
}

static void put_totals(const struct screen *screen, int y)
{
    static const struct {
        const char *label, *key;
        enum ink ink;
    } totals[] = {
        {"Read ", "read_bytes_s", INK_READ},
        {"Write ", "write_bytes_s", INK_WRITE},
        {"Meta ", "metadata_ops_s", INK_METADATA},
        {"Ops ", "ops_s", INK_PLAIN},
        {"p99 ", "p99_ns", INK_PLAIN},
        {"mmap ", "fault_bytes_s", INK_READ},
        {"errors ", "errors_s", INK_PLAIN},
    };
    char buffer[COLUMN_CELL], text[2 * COLUMN_CELL];
    int x = 0;

    for (unsigned i = 0; i < sizeof(totals) / sizeof(*totals); i++) {
        bool time = columns[column_find(totals[i].key, strlen(totals[i].key))].unit == UNIT_TIME;

        if (COLS - x < (int)strlen(totals[i].label) + 7)
            return;
        cell(screen, totals[i].key, buffer);
        snprintf(text, sizeof(text), "%5s%s", buffer,
                 time ? "" : screen->options.since_start || strcmp(buffer, "n/a") == 0 ? "  " : "/s");
        x = put_pair(y, x, totals[i].label, totals[i].ink, text, time ? 6 : 7);
    }
}

static void put_history(const struct screen *screen, int y, int x, const char *label, const float *history,
                        enum ink ink)
{
    float heights[SPARK_WIDTH], most = 0;
    unsigned each = HISTORY_SECONDS / SPARK_WIDTH;

    for (unsigned i = 0; i < SPARK_WIDTH; i++) {
        heights[i] = 0;
        for (unsigned k = 0; k < each; k++)
            heights[i] = fmaxf(heights[i], model_history(screen->model, history, (SPARK_WIDTH - 1 - i) * each + k));
        most = fmaxf(most, heights[i]);
    }
    for (unsigned i = 0; i < SPARK_WIDTH && most > 0; i++)
        heights[i] /= most;
    x += put_text(y, x, COLS - x, INK_DIM, false, label);
    put_spark(y, x, SPARK_WIDTH, ink, heights);
}

static int by_share(const void *a, const void *b)
{
    const struct entity *x = *(const struct entity *const *)a, *y = *(const struct entity *const *)b;
    double p = x->figure[FIGURE_SHARE_BYTES], q = y->figure[FIGURE_SHARE_BYTES];
    int unknown = (strcmp(x->name, PROFILE_UNKNOWN) == 0) - (strcmp(y->name, PROFILE_UNKNOWN) == 0);

    if (unknown)
        return unknown; /* comes last */
    if (isnan(p) || isnan(q)) {
        p = x->figure[FIGURE_SHARE_OPS];
        q = y->figure[FIGURE_SHARE_OPS];
    }
    return (p < q) - (p > q);
}

/* The blend as a bar, and its largest parts in words. */
static void put_mix(const struct screen *screen, int y, int x, int width)
{
    const struct entities *list = &screen->model->of[ENTITY_PROFILE];
    const struct entity *parts[64];
    unsigned count = 0, ink = 0;
    int bar = width / 3, used = 0, at;

    x += put_text(y, x, COLS - x, INK_DIM, false, "Mix ");
    width -= 4;
    for (uint32_t i = 0; i < list->count && count < 64; i++)
        if (list->at[i]->listed == screen->model->sample)
            parts[count++] = list->at[i];
    if (!count) {
        put_text(y, x, width, INK_DIM, false, "n/a yet: too few operations to tell");
        return;
    }
    qsort(parts, count, sizeof(*parts), by_share);
    at = x + bar + 1;
    for (unsigned i = 0; i < count; i++) {
        double bytes = parts[i]->figure[FIGURE_SHARE_BYTES], share = bytes;
        char text[64];
        int columns_wide, needed;
        enum ink color;

        if (isnan(bytes))
            share = parts[i]->figure[FIGURE_SHARE_OPS];
        columns_wide = (int)lround(share * bar);
        columns_wide = columns_wide < bar - used ? columns_wide : bar - used;
        color = (enum ink)(INK_MIX + (strcmp(parts[i]->name, PROFILE_UNKNOWN) == 0 || ink + 1 >= MIX_INKS
                                          ? MIX_INKS - 1u
                                          : ink++));
        put_bar(y, x + used, columns_wide, color);
        used += columns_wide;
        snprintf(text, sizeof(text), "%s %.0f%%", parts[i]->name, 100 * share);
        needed = text_columns(text);
        if (share >= 0.005 && at + needed <= x + width)
            at += put_text(y, at, needed, color, false, text) + 2;
    }
}

static void put_coverage(const struct screen *screen, int y)
{
    char text[512];
    bool bad = coverage_line(screen->model, text, sizeof(text));
    int x = put_text(y, 0, COLS, INK_DIM, false, "Coverage ");

    put_text(y, x, COLS - x, bad ? INK_BAD : INK_PLAIN, false, text);
}

/* What hides rows is seen on every screen that has a header: beside the tabs at x, else beside the last minute. */
static void put_filter(const struct screen *screen, int y, int x)
{
    char text[PROMPT_SIZE + 16];
    int history_end = 2 * (SPARK_WIDTH + 7);

    if (!*screen->filter_text)
        return;
    snprintf(text, sizeof(text), "filter: %s", screen->filter_text);
    if (COLS - x > FILTER_ROOM) {
        put_right(y, x, COLS - x, INK_WRITE, text);
    } else {
        x = COLS - history_end > FILTER_ROOM ? history_end : COLS - FILTER_ROOM;
        put_right(2, x, COLS - x, INK_WRITE, text);
    }
}

static void put_tabs(struct screen *screen, int y)
{
    int x = 0;

    screen->tab_y = y;
    for (unsigned i = 0; i < tab_count; i++) {
        char title[32];
        /* titles are cut to three letters where there is no room */
        bool narrow = COLS < 74 && i != screen->tab;

        screen->tab_x[i] = -1;
        if (!tab_is_listed(i, screen->tab, screen->arguments->cluster))
            continue;
        snprintf(title, sizeof(title), narrow ? " %.3s " : " %s ", tabs[i].title);
        screen->tab_x[i] = x;
        x += put_text(y, x, COLS - x, i == screen->tab ? INK_TAB : INK_PLAIN, false, title) + (COLS >= 74);
    }
    put_filter(screen, y, x);
}

/* On a tiny screen: rates in one line, coverage in the next. */
static int put_small(struct screen *screen)
{
    char read[COLUMN_CELL], write[COLUMN_CELL], meta[COLUMN_CELL], text[160];
    bool bad;

    snprintf(text, sizeof(text), "R%s W%s M%s%s", cell(screen, "read_bytes_s", read),
             cell(screen, "write_bytes_s", write), cell(screen, "metadata_ops_s", meta),
             screen->frozen  ? " FROZEN"
             : screen->ended ? " END"
                             : "");
    put_text(0, 0, COLS, INK_STRONG, false, text);
    bad = coverage_words(screen->model, text, sizeof(text));
    put_text(1, 0, COLS, bad ? INK_BAD : INK_DIM, false, text);
    if (*screen->filter_text)
        put_right(1, COLS / 2, COLS - COLS / 2, INK_WRITE, " filter");
    screen->tab_y = -1;
    return 2;
}

int header_paint(struct screen *screen)
{
    if (LINES < SMALL_LINES || COLS < 40)
        return put_small(screen);
    put_where(screen, 0);
    put_totals(screen, 1);
    put_history(screen, 2, 0, "Data ", screen->model->data_history, INK_READ);
    put_history(screen, 2, SPARK_WIDTH + 7, "Meta ", screen->model->metadata_history, INK_METADATA);
    if (COLS >= 130)
        put_mix(screen, 2, 2 * (SPARK_WIDTH + 7), COLS - 2 * (SPARK_WIDTH + 7));
    else
        put_mix(screen, 3, 0, COLS);
    put_coverage(screen, COLS >= 130 ? 3 : 4);
    put_tabs(screen, 5);
    return 6;
}
