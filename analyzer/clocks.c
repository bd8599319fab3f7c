/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/clocks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/human.h"
#include "lib/cleanup.h"

#define AHEAD_NS INT64_C(3600000000000) /* further ahead no clock is that is set now and then */

static bool was_set_back(const struct node_total *node, const void *context)
{
    return node->set_back;
}

static bool is_ahead(const struct node_total *node, const void *now_ns)
{
    return node_ahead_ns(node, *(const int64_t *)now_ns) > AHEAD_NS;
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
    back = aggregate_name_nodes(totals, was_set_back, NULL, "the clock of ", stream);
    if (back)
        fputs(" was set back", stream);
    ahead = aggregate_name_nodes(totals, is_ahead, &now_ns, back ? ", that of " : "the clock of ", stream);
    if (ahead)
        fprintf(stream, " is far ahead, up to %s", human_time(last, totals->end_ns));
    fputs(": all is counted, at times that are not right", stream);
    if (ahead)
        fputs(", and how fast volumes grow cannot be told", stream);
    failed = ferror(stream);
    if (fclose(stream) || failed)
        return -ENOMEM;
    if (back || ahead)
        *out = take_pointer(text);
    return 0;
}

int clocks_doubt(struct aggregate *totals, int64_t now_ns, char **out)
{
    _cleanup_free_ char *text = NULL;
    FILE *stream;
    size_t size;
    uint32_t ahead;
    bool failed;

    *out = NULL;
    for (uint32_t i = 0; i < totals->volume_count; i++) {
        struct filling *filling = &totals->volumes[i].filling;

        filling->doubted |= filling->count && filling->last.ns - now_ns > AHEAD_NS;
    }
    stream = open_memstream(&text, &size);
    if (!stream)
        return -ENOMEM;
    ahead = aggregate_name_nodes(totals, is_ahead, &now_ns, "the clock of ", stream);
    fputs(" is far ahead", stream);
    failed = ferror(stream);
    if (fclose(stream) || failed)
        return -ENOMEM;
    if (ahead)
        *out = take_pointer(text);
    return 0;
}
