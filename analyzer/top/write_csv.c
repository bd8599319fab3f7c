/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CSV as RFC 4180 has it: a heading, then a line a row, each with the sample's time; what is not known is empty. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/top/write.h"
#include "lib/output.h"
#include "lib/utf8.h"

/* A name from outside must not break the line, nor may a terminal obey it. */
static void put_text(FILE *out, const char *text)
{
    bool quoted = text[strcspn(text, "\",")];

    fputs(quoted ? "\"" : "", out);
    while (*text) {
        size_t control = utf8_control(text);

        if (*text == '"')
            fputc('"', out);
        fputc(control ? '?' : *text, out);
        text += control ? control : 1;
    }
    fputs(quoted ? "\"" : "", out);
}

static void put_value(FILE *out, const struct column *column, const struct row *row)
{
    double value;

    if (column->unit == UNIT_TEXT) {
        put_text(out, column->text(row));
        return;
    }
    value = column_value(column, row);
    if (!isnan(value))
        fprintf(out, "%.12g", value);
}

int write_csv(FILE *out, const struct shown *shown, bool first)
{
    char key[COLUMN_CELL], time[HUMAN_SIZE];
    struct layout all;

    layout_init(shown->tab, &all);
    if (first) {
        fputs("time", out);
        for (unsigned i = 0; i < all.count; i++)
            if (columns[all.column[i]].unit != UNIT_SPARK)
                fprintf(out, ",%s", column_key(&columns[all.column[i]], shown->since_start, key));
        fputs("\r\n", out);
    }
    human_time(time, shown->model->end_ns);
    for (uint32_t i = 0; i < shown->count; i++) {
        fputs(time, out);
        for (unsigned k = 0; k < all.count; k++)
            if (columns[all.column[k]].unit != UNIT_SPARK) {
                fputc(',', out);
                put_value(out, &columns[all.column[k]], &shown->rows[i]);
            }
        fputs("\r\n", out);
    }
    return output_flush(out);
}
