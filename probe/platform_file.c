/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/platform_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/platform_table.h"

int platform_parse(char *text, int64_t oldest_ms, platform_sink sink, void *context, char *why, size_t size)
{
    _cleanup_(platform_table_clear) struct platform_table table = {.why = why, .size = size};
    size_t first = strcspn(text, "\n");
    bool csv = memchr(text, ',', first) && !memchr(text, '{', first) && *text != '#';
    int err = csv ? platform_csv(&table, text) : platform_metrics(&table, text);

    if (!err && !table.count) {
        snprintf(why, size, "no counter of requests or bytes by volume is in it");
        err = -EBADMSG;
    }
    if (!err && table.newest_ms && table.newest_ms < oldest_ms) {
        snprintf(why, size, "stale: its latest sample is older than 5 minutes");
        err = -EBADMSG;
    }
    for (uint32_t i = 0; !err && i < table.count; i++)
        err = sink(context, &table.rows[i]);
    return err;
}
