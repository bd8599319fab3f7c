/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as people read them: in five or six characters, units one below the other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/top/column.h"

/* Three digits that count and a letter: "0", "999", "1.23k", "45.6M". */
static void short_number(char *buffer, double value, double step, const char *const *units)
{
    double limit = step > 1000 ? 1023.5 : 999.5;
    unsigned unit = 0;
    int decimals;

    while (value >= limit && units[unit + 1]) {
        value /= step;
        unit++;
    }
    decimals = value >= 99.95 || value == floor(value) ? 0 : value >= 9.995 ? 1 : 2;
    if (!unit && value > 0 && value < 0.01)
        snprintf(buffer, COLUMN_CELL, "<.01");
    else
        snprintf(buffer, COLUMN_CELL, "%.*f%s", decimals, value, units[unit]);
}

static void format_unit(enum column_unit unit, double value, bool kilobytes, char *buffer)
{
    static const char *const decimal[] = {"", "k", "M", "G", "T", "P", "E", NULL};
    static const char *const binary[] = {"", "K", "M", "G", "T", "P", "E", NULL};
    static const char *const times[] = {"ns", "us", "ms", "s", NULL};

    switch (unit) {
    case UNIT_ID:
        snprintf(buffer, COLUMN_CELL, "%.0f", value);
        break;
    case UNIT_RATE:
    case UNIT_COUNT:
        short_number(buffer, value, 1000, decimal);
        break;
    case UNIT_BYTES:
    case UNIT_SIZE:
        if (kilobytes)
            snprintf(buffer, COLUMN_CELL, "%.2f", value / 1024);
        else
            short_number(buffer, floor(value + 0.5), 1024, binary);
        break;
    case UNIT_TIME:
        short_number(buffer, value, 1000, times);
        break;
    case UNIT_SHARE:
        snprintf(buffer, COLUMN_CELL, value > 0 && value < 0.005 ? "<1%%" : "%.0f%%", 100 * value);
        break;
    case UNIT_RATIO:
        snprintf(buffer, COLUMN_CELL, value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f", value);
        break;
    case UNIT_TEXT:
    case UNIT_SPARK:
        break;
    }
}

char *column_format(const struct column *column, const struct row *row, bool kilobytes, char *buffer)
{
    double value;

    *buffer = '\0';
    if (column->unit == UNIT_TEXT || column->unit == UNIT_SPARK)
        return buffer;
    value = column_value(column, row);
    if (isnan(value))
        return strcpy(buffer, "-");
    format_unit(column->unit, value, kilobytes, buffer);
    return buffer;
}

char *column_title(const struct column *column, bool since_start, char *buffer)
{
    char *slash;

    snprintf(buffer, COLUMN_CELL, "%s", column->title);
    slash = strchr(buffer, '/');
    if (since_start && slash && (column->unit == UNIT_RATE || column->unit == UNIT_BYTES))
        *slash = '\0';
    return buffer;
}

char *column_key(const struct column *column, bool since_start, char *buffer)
{
    size_t length = (size_t)snprintf(buffer, COLUMN_CELL, "%s", column->key);

    if (since_start && (column->unit == UNIT_RATE || column->unit == UNIT_BYTES) && length > 2)
        buffer[length - 2] = '\0';
    return buffer;
}
