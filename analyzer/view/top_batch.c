/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/top.h"

#include <errno.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/view/json.h"

static void write_row(const struct pen *pen, const struct top_row *row, double seconds)
{
    char buffer[TOP_CELL];

    for (unsigned i = 0; i < top_column_count; i++) {
        const struct top_column *column = &top_columns[i];
        unsigned columns;

        fputs(i ? " " : "", pen->out);
        if (column->unit != TOP_TEXT) {
            fputs(top_cell(column, row, seconds, buffer), pen->out);
            continue;
        }
        columns = draw_text(pen, column->text(row), (unsigned)column->width);
        if (i + 1 < top_column_count)
            fprintf(pen->out, "%*s", column->width - (int)columns, "");
    }
    fputc('\n', pen->out);
}

int top_write_text(const struct pen *pen, const struct top_sample *sample,
                   const struct top_options *options)
{
    const struct batch *batch = sample->batch;
    char line[256], time[HUMAN_SIZE], span[HUMAN_SIZE];

    human_time(time, batch->start_ns + (int64_t)batch->duration_ns);
    time[10] = ' ';
    human_duration(span, (double)batch->duration_ns / 1e9);
    top_totals(sample, line, sizeof(line));
    fprintf(pen->out, "%.19s UTC, %s %s; %s\n", time,
            options->accumulated ? "amounts over" : "rates over", span, line);
    top_coverage(batch, line, sizeof(line));
    fprintf(pen->out, "%s\n", line);
    top_stuck(batch, line, sizeof(line));
    if (*line)
        fprintf(pen->out, "%s\n", line);
    draw_tone(pen, TONE_STRONG);
    for (unsigned i = 0; i < top_column_count; i++) {
        int length = (int)strlen(top_columns[i].title) - (options->accumulated ? 2 : 0);

        if (!strchr(top_columns[i].title, '/'))
            length = (int)strlen(top_columns[i].title);
        if (top_columns[i].unit == TOP_TEXT && i + 1 == top_column_count)
            fprintf(pen->out, " %s", top_columns[i].title);
        else
            fprintf(pen->out, "%s%*.*s", i ? " " : "",
                    top_columns[i].unit == TOP_TEXT ? -top_columns[i].width : top_columns[i].width,
                    length, top_columns[i].title);
    }
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
    for (uint32_t i = 0; i < sample->count; i++)
        write_row(pen, &sample->rows[i], sample->seconds);
    fputc('\n', pen->out);
    return fflush(pen->out) ? -EIO : 0;
}

static json_t *value_of(const struct top_column *column, const struct top_row *row, double seconds)
{
    double value = column->number ? column->number(row) : 0;

    switch (column->unit) {
    case TOP_TEXT:
        return json_string(column->text(row));
    case TOP_PID:
        return row->pid ? json_integer(row->pid) : json_null();
    case TOP_TIME:
        return value < 0 ? json_null() : json_integer((json_int_t)value);
    case TOP_SHARE:
        return value < 0 ? json_null() : json_real(value);
    default:
        return seconds > 0 && value >= 0 ? json_real(value / seconds) : json_null();
    }
}

static json_t *row_of(const struct top_row *row, double seconds, bool totals)
{
    json_t *object = json_object();
    bool failed = !object;

    for (unsigned i = 0; i < top_column_count; i++) {
        const struct top_column *column = &top_columns[i];

        if (!totals || (column->unit != TOP_TEXT && column->unit != TOP_PID))
            json_put(&failed, object, column->key, value_of(column, row, seconds));
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *rows_of(const struct top_sample *sample)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < sample->count; i++)
        json_add(&failed, list, row_of(&sample->rows[i], sample->seconds, false));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *coverage_of(const struct coverage *c)
{
    json_t *hooks = json_array();
    bool failed = !hooks;

    for (uint32_t i = 0; i < c->hook_count; i++)
        json_add(&failed, hooks,
                 json_pack("{s:s,s:s,s:o}", "hook", c->hooks[i].name, "state",
                           c->hooks[i].attached ? "attached" : "unavailable", "why",
                           json_text(c->hooks[i].why)));
    if (failed) {
        json_decref(hooks);
        return NULL;
    }
    return json_pack("{s:I,s:I,s:I,s:I,s:o,s:o}", "lost_ops", (json_int_t)c->lost, "in_flight_ops",
                     (json_int_t)c->in_flight, "unattributed_ops", (json_int_t)c->unattributed,
                     "overflow_ops", (json_int_t)c->overflow, "shed_ms", json_shed(c->shed_ms), "hooks",
                     hooks);
}

int top_write_json(FILE *out, const struct top_sample *sample)
{
    const struct batch *batch = sample->batch;
    json_t *json = json_pack("{s:o,s:s,s:f,s:o,s:o,s:o,s:o}", "time",
                             json_time(batch->start_ns + (int64_t)batch->duration_ns), "node",
                             batch->node, "interval_s", (double)batch->duration_ns / 1e9, "totals",
                             row_of(&sample->totals, sample->seconds, true), "processes",
                             rows_of(sample), "stuck", top_stuck_list(batch),
                             "coverage", coverage_of(&batch->coverage));
    int err = 0;

    if (!json)
        return -ENOMEM;
    if (json_dumpf(json, out, JSON_REAL_PRECISION(12)) || fputc('\n', out) == EOF || fflush(out))
        err = -EIO;
    json_decref(json);
    return err;
}
