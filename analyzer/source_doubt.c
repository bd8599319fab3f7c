/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source_doubt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/human.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/plausible.h"
#include "lib/vector.h"

/* 1 if the node is a new one, 0 or -ENOMEM. */
static int note(struct doubts *doubts, const struct batch *batch)
{
    _cleanup_free_ char *name = NULL;

    if (asprintf(&name, "%s of %s", batch->node, batch->cluster) < 0) {
        name = NULL;
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < doubts->count; i++)
        if (strcmp(doubts->names[i], name) == 0)
            return 0;
    if (vector_grow((void **)&doubts->names, &doubts->capacity, doubts->count, sizeof(*doubts->names)))
        return -ENOMEM;
    doubts->names[doubts->count++] = take_pointer(name);
    return 1;
}

int doubts_look(struct doubts *doubts, struct batch *batch)
{
    struct codec_error error;
    char when[40];
    int first;

    if (!batch_plausible(batch, &error))
        return 0;
    first = note(doubts, batch);
    if (first < 0)
        return first;
    if (first)
        log_warning("what node %s told at %s is left out, and all else of it that cannot be: %s %s: look at its agent",
                    doubts->names[doubts->count - 1], human_time(when, batch->start_ns), error.field, error.why);
    return batch_distrust(batch);
}

void doubts_clear(struct doubts *doubts)
{
    for (uint32_t i = 0; i < doubts->count; i++)
        free(doubts->names[i]);
    free(doubts->names);
    *doubts = (struct doubts){0};
}
