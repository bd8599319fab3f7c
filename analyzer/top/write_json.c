/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/top/stuck.h"
#include "analyzer/top/write.h"
#include "analyzer/view/json.h"
#include "lib/output.h"

/* JSON integers end at 2^63 - 1, the last bucket does not. */
static json_t *integer(double value)
{
    return json_integer(value < 0x1p63 ? (json_int_t)value : INT64_MAX);
}

static json_t *value_of(const struct column *column, const struct row *row)
{
    double value;

    if (column->unit == UNIT_TEXT)
        return json_string(column->text(row));
    value = column_value(column, row);
    if (isnan(value))
        return json_null();
    if (column->unit == UNIT_ID || column->unit == UNIT_TIME || column->unit == UNIT_COUNT || row->since_start)
        return fabs(value - floor(value)) > 0 ? json_real(value) : integer(value);
    return json_real(value);
}

/* Texts, ids and what is no sum have no total. */
static bool has_total(const struct column *column)
{
    return column->unit != UNIT_TEXT && column->unit != UNIT_ID && column->unit != UNIT_SPARK &&
           strcmp(column->key, "confidence") != 0;
}

static json_t *object_of(const struct tab *tab, const struct row *row, bool totals)
{
    struct layout all;
    json_t *object = json_object();
    bool failed = !object;
    char key[COLUMN_CELL];

    layout_init(tab, &all);
    for (unsigned i = 0; i < all.count; i++) {
        const struct column *column = &columns[all.column[i]];

        if (column->unit != UNIT_SPARK && (!totals || has_total(column)))
            json_put(&failed, object, column_key(column, row->since_start, key), value_of(column, row));
    }
    if (!totals && entity_is_somebody(row->entity))
        json_put(&failed, object, "exited", json_boolean(row->entity->exited));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *rows_of(const struct shown *shown)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < shown->count; i++)
        json_add(&failed, list, object_of(shown->tab, &shown->rows[i], false));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *mix_of(const struct model *model)
{
    const struct entities *list = &model->of[ENTITY_PROFILE];
    json_t *mix = json_array();
    bool failed = !mix;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct entity *e = list->at[i];

        if (e->listed == model->sample)
            json_add(&failed, mix,
                     json_pack("{s:s,s:o,s:o,s:o}", "profile", e->name, "share_bytes",
                               json_number(e->figure[FIGURE_SHARE_BYTES]), "share_ops",
                               json_number(e->figure[FIGURE_SHARE_OPS]), "confidence",
                               json_number(e->figure[FIGURE_CONFIDENCE])));
    }
    if (!failed)
        return mix;
    json_decref(mix);
    return NULL;
}

static json_t *coverage_of(const struct coverage *c)
{
    json_t *hooks = json_array();
    bool failed = !hooks;

    for (uint32_t i = 0; i < c->hook_count; i++)
        json_add(&failed, hooks,
                 json_pack("{s:s,s:s,s:o}", "hook", c->hooks[i].name, "state",
                           c->hooks[i].attached ? "attached" : "unavailable", "why", json_text(c->hooks[i].why)));
    if (failed) {
        json_decref(hooks);
        return NULL;
    }
    return json_pack("{s:I,s:I,s:I,s:I,s:o,s:o}", "lost_ops", (json_int_t)c->lost, "in_flight_ops",
                     (json_int_t)c->in_flight, "unattributed_ops", (json_int_t)c->unattributed, "overflow_ops",
                     (json_int_t)c->overflow, "shed_ms", json_shed(c->shed_ms), "hooks", hooks);
}

int write_json(FILE *out, const struct shown *shown)
{
    const struct batch *batch = shown->sample->batch;
    const struct model *model = shown->model;
    struct row total = row_of(model, &model->total, shown->since_start);
    /* rows of processes, or of jobs instead of them, have always stood there */
    const char *key = shown->tab->kind == ENTITY_JOB        ? "processes"
                      : shown->tab->kind == ENTITY_COVERAGE ? "items"
                                                            : shown->tab->key;
    json_t *json = json_pack("{s:o,s:s,s:f,s:s,s:o,s:o,s:o,s:o,s:o}", "time", json_time(model->end_ns), "node",
                             batch->node, "interval_s", shown->since_start ? model->sum_seconds : model->seconds, "tab",
                             shown->tab->key, "totals", object_of(&tabs[TAB_PROCESSES], &total, true), key,
                             rows_of(shown), "stuck", stuck_list(batch), "profile_mix", mix_of(model), "coverage",
                             coverage_of(&batch->coverage));
    int err = json ? output_json(json, out, JSON_REAL_PRECISION(12)) : -ENOMEM;

    json_decref(json);
    return err ? err : output_flush(out);
}
