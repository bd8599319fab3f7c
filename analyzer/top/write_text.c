/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/top/stuck.h"
#include "analyzer/top/write.h"
#include "lib/output.h"

static void put_time(const struct pen *pen, const struct shown *shown, const struct text_style *style)
{
    char time[HUMAN_SIZE];

    if (style->time)
        fprintf(pen->out, "%.8s ", human_time(time, shown->model->end_ns) + 11);
}

static void put_spark(const struct pen *pen, const struct row *row, unsigned width)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char letters[] = " .:-=+*#@";
    float heights[HISTORY_SECONDS];

    column_spark(row, width, heights);
    for (unsigned i = 0; i < width; i++) {
        unsigned level = (unsigned)ceilf(heights[i] * 8);

        if (pen->utf8)
            fputs(blocks[level], pen->out);
        else
            fputc(letters[level], pen->out);
    }
}

static void put_padding(const struct pen *pen, int width)
{
    if (width > 0)
        fprintf(pen->out, "%*s", width, "");
}

static void put_row(const struct pen *pen, const struct shown *shown, const struct row *row,
                    const struct text_style *style, const unsigned *fitting, unsigned count)
{
    char buffer[COLUMN_CELL];

    put_time(pen, shown, style);
    for (unsigned i = 0; i < count; i++) {
        const struct column *column = &columns[fitting[i]];
        int width = column_width(column, style->kilobytes);

        fputs(i ? " " : "", pen->out);
        if (column->unit == UNIT_SPARK) {
            put_spark(pen, row, (unsigned)width);
        } else if (column->unit == UNIT_TEXT) {
            const char *text = column->text(row);
            unsigned used = draw_text(pen, *text ? text : "-", i + 1 < count ? (unsigned)width : 0);

            if (i + 1 < count)
                put_padding(pen, width - (int)used);
        } else {
            fprintf(pen->out, "%*s", width, column_format(column, row, style->kilobytes, buffer));
        }
    }
    fputc('\n', pen->out);
}

static void put_titles(const struct pen *pen, const struct shown *shown, const struct text_style *style,
                       const unsigned *fitting, unsigned count)
{
    char title[COLUMN_CELL];

    draw_tone(pen, TONE_STRONG);
    if (style->time)
        fputs("TIME     ", pen->out);
    for (unsigned i = 0; i < count; i++) {
        const struct column *column = &columns[fitting[i]];
        int width = column_width(column, style->kilobytes);
        bool left = column->unit == UNIT_TEXT || column->unit == UNIT_SPARK;

        if (left && i + 1 == count)
            width = 0;
        fprintf(pen->out, "%s%*s", i ? " " : "", left ? -width : width,
                column_title(column, shown->since_start, title));
    }
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
}

static void put_summary(const struct pen *pen, const struct shown *shown)
{
    const struct model *model = shown->model;
    char line[512], time[HUMAN_SIZE], span[HUMAN_SIZE];

    human_time(time, model->end_ns);
    time[10] = ' ';
    human_duration(span, shown->since_start ? model->sum_seconds : model->seconds);
    totals_line(model, shown->since_start, line, sizeof(line));
    fprintf(pen->out, "%.19s UTC, %s %s; %s\n", time, shown->since_start ? "amounts over" : "rates over", span, line);
    coverage_line(model, line, sizeof(line));
    fprintf(pen->out, "coverage: %s\n", line);
    stuck_line(shown->sample->batch, line, sizeof(line));
    if (*line)
        fprintf(pen->out, "%s\n", line);
}

int write_text(const struct pen *pen, const struct shown *shown, const struct text_style *style)
{
    unsigned fitting[TAB_COLUMNS_MAX];
    unsigned count = fit_columns(shown->tab, shown->layout, style->kilobytes, style->width, fitting);

    if (style->quiet < 3)
        put_summary(pen, shown);
    if (style->quiet < 1 || (style->quiet == 1 && style->first))
        put_titles(pen, shown, style, fitting, count);
    for (uint32_t i = 0; i < shown->count; i++)
        put_row(pen, shown, &shown->rows[i], style, fitting, count);
    if (style->quiet < 3)
        fputc('\n', pen->out);
    return output_flush(pen->out);
}
