/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/clocks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/human.h"
#include "lib/cleanup.h"

#define AHEAD_NS    INT64_C(3600000000000) /* further ahead no clock is that is set now and then */
#define NAMED_NODES 3

static bool was_set_back(const struct node_total *node, int64_t now_ns)
{
    return node->set_back;
}

static bool is_ahead(const struct node_total *node, int64_t now_ns)
{
    return node->last_ns - AHEAD_NS > now_ns;
}

/* "the clock of n1, n2 and 4 more", of the nodes with such a clock. How many there are. */
static uint32_t name_nodes(FILE *out, const struct aggregate *totals, int64_t now_ns, const char *before,
                           bool (*has)(const struct node_total *, int64_t))
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < totals->node_count; i++)
        if (has(&totals->nodes[i], now_ns) && count++ < NAMED_NODES)
            fprintf(out, "%s%s", count == 1 ? before : ", ", totals->nodes[i].node);
    if (count > NAMED_NODES)
        fprintf(out, " and %u more", count - NAMED_NODES);
    return count;
}

int clocks_tell(const struct aggregate *totals, int64_t now_ns, char **out)
{
    _cleanup_free_ char *text = NULL;
    FILE *stream;
    size_t size;
    char last[40];
    uint32_t back, ahead;
    bool failed;

    *out = NULL;
    stream = open_memstream(&text, &size);
    if (!stream)
        return -ENOMEM;
    back = name_nodes(stream, totals, now_ns, "the clock of ", was_set_back);
    if (back)
        fputs(" was set back", stream);
    ahead = name_nodes(stream, totals, now_ns, back ? ", that of " : "the clock of ", is_ahead);
    if (ahead)
        fprintf(stream, " is far ahead, up to %s", human_time(last, totals->end_ns));
    fputs(": all is counted, at times that are not right", stream);
    failed = ferror(stream);
    if (fclose(stream) || failed)
        return -ENOMEM;
    if (back || ahead)
        *out = take_pointer(text);
    return 0;
}
