/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/describe.h"

#include "analyzer/top/keys.h"
#include "analyzer/top/tab.h"

static const char *const unit_names[] = {
    [UNIT_ID] = "number",      [UNIT_RATE] = "per second", [UNIT_BYTES] = "bytes per second",
    [UNIT_COUNT] = "number",   [UNIT_SIZE] = "bytes",      [UNIT_TIME] = "nanoseconds",
    [UNIT_SHARE] = "0 to 1",   [UNIT_RATIO] = "ratio",     [UNIT_TEXT] = "text",
    [UNIT_SPARK] = "a curve, on the screen only",
};

void top_describe(FILE *out)
{
    for (unsigned i = 0; i < tab_count; i++)
        fprintf(out, "tab\t%s\t%s\t%s\n", tabs[i].key, tabs[i].title, tabs[i].help);
    for (unsigned i = 0; i < column_count; i++)
        fprintf(out, "column\t%s\t%s\t%s\t%s\n", columns[i].key, columns[i].title, columns[i].help,
                unit_names[columns[i].unit]);
    for (unsigned i = 0; i < key_count; i++)
        fprintf(out, "key\t%s\t\t%s\n", keys[i].name, keys[i].help);
}
