/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "probe/platform_table.h"

#define COLUMNS_MAX 16

static unsigned split(char *line, char *fields[COLUMNS_MAX])
{
    unsigned count = 0;

    while (line && count < COLUMNS_MAX) {
        char *field = strsep(&line, ",");

        field += strspn(field, " \t");
        field[strcspn(field, " \t\r")] = '\0';
        fields[count++] = field;
    }
    return line ? COLUMNS_MAX + 1 : count;
}

int platform_csv(struct platform_table *table, char *text)
{
    static const char *const names[] = {"volume", "request", "ops", "bytes", "errors", "queue_seconds",
                                        "service_seconds"};
    static const enum platform_value units[] = {PLATFORM_NONE,   PLATFORM_NONE,  PLATFORM_OPS,    PLATFORM_BYTES,
                                                PLATFORM_ERRORS, PLATFORM_QUEUE, PLATFORM_SERVICE};
    int column[sizeof(names) / sizeof(*names)];
    char *fields[COLUMNS_MAX];
    unsigned count = split(strsep(&text, "\n"), fields);
    int err = 0;

    table->line = 1;
    for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
        column[n] = -1;
        for (unsigned i = 0; i < count && i < COLUMNS_MAX; i++)
            if (strcmp(fields[i], names[n]) == 0)
                column[n] = (int)i;
    }
    if (count > COLUMNS_MAX || column[0] < 0 || column[1] < 0)
        return platform_refuse(table, "columns volume and request are needed, and at most %d in all", COLUMNS_MAX);
    for (char *line; !err && (line = strsep(&text, "\n"));) {
        enum request_kind request;

        table->line++;
        if (!line[strspn(line, " \t\r")])
            continue;
        if (split(line, fields) != count)
            return platform_refuse(table, "not as many fields as the first line has");
        request = platform_request(fields[column[1]]);
        if (request == REQUEST_ALL)
            return platform_refuse(table, "request \"%.40s\" is none of read, write, flush, discard and metadata",
                          fields[column[1]]);
        for (size_t n = 2; !err && n < sizeof(names) / sizeof(*names); n++) {
            char *field = column[n] < 0 ? NULL : fields[column[n]], *end;
            double value = field ? strtod(field, &end) : 0;

            if (!field || !*field)
                continue;
            err = *end ? platform_refuse(table, "%s \"%.40s\" is no number", names[n], field)
                       : platform_add(table, fields[column[0]], request, units[n], value);
        }
    }
    return err;
}
