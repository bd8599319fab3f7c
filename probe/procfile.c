/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/procfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/host.h"

const char *procfile_variable(const char *text, size_t size, const char *const *names, unsigned count, unsigned *which)
{
    const char *value = NULL, *end = text + size;
    unsigned best = count;

    while (text < end) {
        for (unsigned i = 0; i < best; i++) {
            size_t length = strlen(names[i]);

            if (strncmp(text, names[i], length) == 0 && text[length] == '=' && text[length + 1]) {
                value = text + length + 1;
                best = i;
            }
        }
        text += strlen(text) + 1;
    }
    if (value)
        *which = best;
    return value;
}

bool procfile_stat(const char *text, struct procfile_stat *stat)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    struct procfile_stat read = {.command = ""};

    if (!open || !close || close < open)
        return false;
    snprintf(read.command, sizeof(read.command), "%.*s", (int)(close - open - 1), open + 1);
    /* state, parent, and 17 others up to the start */
    if (sscanf(close + 1, " %*c %" SCNu32 " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
               &read.parent, &read.start_ticks) != 2)
        return false;
    *stat = read;
    return true;
}

bool procfile_read_stat(const char *root, uint32_t tgid, struct procfile_stat *stat)
{
    _cleanup_free_ char *text = NULL;

    return host_read(root, &text, NULL, "/proc/%u/stat", tgid) == 0 && procfile_stat(text, stat);
}
