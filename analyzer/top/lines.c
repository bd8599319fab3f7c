/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above the rows, from the model alone: batch mode and the screen say the same. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/top/write.h"
#include "lib/utf8.h"

int column_width(const struct column *column, bool kilobytes)
{
    return kilobytes && (column->unit == UNIT_BYTES || column->unit == UNIT_SIZE) && column->width < 11 ? 11
                                                                                                        : column->width;
}

unsigned fit_columns(const struct tab *tab, const struct layout *layout, bool kilobytes, unsigned width,
                     unsigned fitting[TAB_COLUMNS_MAX])
{
    unsigned name = column_find(tab->name_column, strlen(tab->name_column)), count = 0;
    unsigned used = (unsigned)column_width(&columns[name], kilobytes);
    bool full = false;

    if (layout->sort != name)
        used += (unsigned)column_width(&columns[layout->sort], kilobytes) + 1;
    for (unsigned i = 0; i < layout->count; i++) {
        unsigned column = layout->column[i];
        unsigned wanted = (unsigned)column_width(&columns[column], kilobytes) + 1;

        if (column == name || column == layout->sort) { /* their room is kept */
            fitting[count++] = column;
            continue;
        }
        if (!layout->shown[i])
            continue;
        if (columns[column].unit == UNIT_TEXT && full)
            continue;
        if (used + wanted > width) {
            full = true;
            continue;
        }
        if (full)
            continue; /* what matters less does not come before what matters more */
        used += wanted;
        fitting[count++] = column;
    }
    return count;
}

static double coverage_value(const struct model *model, const char *name)
{
    const struct entity like = {.kind = ENTITY_COVERAGE, .name = name, .volume = ""};
    const struct entity *found = model_find(model, &like);

    return found && found->listed == model->sample ? found->figure[FIGURE_VALUE] : 0;
}

/* Appends; what does not fit is cut. */
static void append(char *buffer, size_t size, const char *text)
{
    size_t length = strlen(buffer);

    snprintf(buffer + length, size - length, "%s", text);
}

/* The first hook that is not there with its reason, and how many more. */
static void append_missing(const struct model *model, char *buffer, size_t size)
{
    const struct entities *list = &model->of[ENTITY_COVERAGE];
    const struct entity *first = NULL;
    unsigned missing = 0, hooks = 0;
    char text[320];

    for (uint32_t i = 0; i < list->count; i++) {
        const struct entity *e = list->at[i];

        if (e->listed != model->sample || strncmp(e->name, "hook ", 5) != 0)
            continue;
        hooks++;
        if (strcmp(e->state, "n/a") == 0) {
            missing++;
            if (!first)
                first = e;
        }
    }
    if (!first)
        return;
    snprintf(text, sizeof(text), "; n/a %u/%u: %s%s%.200s%s", missing, hooks, first->name + 5,
             *first->why ? ": " : "", first->why, missing > 1 ? ", ..." : "");
    utf8_one_line(text); /* an agent's own words, and anybody may have written the recording */
    append(buffer, size, text);
}

static const char *shed(const struct model *model)
{
    static const char *const words[SHED_COUNT] = {"by job only", "METADATA ONLY", "DETACHED"};

    for (unsigned i = SHED_COUNT; i-- > 0;)
        if (coverage_value(model, shed_names[i]) > 0)
            return words[i];
    return NULL;
}

static bool is_bad(const struct model *model)
{
    return coverage_value(model, "lost") > 0 || coverage_value(model, "overflow") > 0 || shed(model);
}

bool coverage_line(const struct model *model, char *buffer, size_t size)
{
    char lost[HUMAN_SIZE], overflow[HUMAN_SIZE], flight[HUMAN_SIZE], nobody[HUMAN_SIZE];

    snprintf(buffer, size, "%s lost, %s overflow, %s unattributed, %s in flight",
             human_count(lost, (uint64_t)coverage_value(model, "lost")),
             human_count(overflow, (uint64_t)coverage_value(model, "overflow")),
             human_count(nobody, (uint64_t)coverage_value(model, "unattributed")),
             human_count(flight, (uint64_t)coverage_value(model, "in flight")));
    if (shed(model)) {
        append(buffer, size, "; ");
        append(buffer, size, shed(model));
        append(buffer, size, " (--max-cost)");
    }
    append_missing(model, buffer, size);
    return is_bad(model);
}

bool coverage_words(const struct model *model, char *buffer, size_t size)
{
    char lost[HUMAN_SIZE], overflow[HUMAN_SIZE];

    if (shed(model))
        snprintf(buffer, size, "%s", shed(model));
    else if (is_bad(model))
        snprintf(buffer, size, "lost %s ovf %s", human_rate(lost, coverage_value(model, "lost")),
                 human_rate(overflow, coverage_value(model, "overflow")));
    else
        snprintf(buffer, size, "0 lost 0 overflow");
    return is_bad(model);
}

static const char *cell(const struct model *model, const struct row *row, const char *key, char *buffer)
{
    const struct column *column = &columns[column_find(key, strlen(key))];

    column_format(column, row, false, buffer);
    return strcmp(buffer, "-") == 0 && (column->needs & model->unknown) ? "n/a" : buffer;
}

void totals_line(const struct model *model, bool since_start, char *buffer, size_t size)
{
    struct row row = row_of(model, &model->total, since_start);
    char a[COLUMN_CELL], b[COLUMN_CELL], c[COLUMN_CELL], d[COLUMN_CELL], e[COLUMN_CELL];

    snprintf(buffer, size, "total: %s ops, %s read, %s written, %s metadata, p99 %s",
             cell(model, &row, "ops_s", a), cell(model, &row, "read_bytes_s", b),
             cell(model, &row, "write_bytes_s", c), cell(model, &row, "metadata_ops_s", d),
             cell(model, &row, "p99_ns", e));
}
