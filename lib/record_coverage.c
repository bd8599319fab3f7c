/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/record_private.h"

#include <errno.h>

/* Copies of what an interval could not see. */

int batch_hooks(struct batch *batch, const struct hook *from, uint32_t count)
{
    struct hook *hooks = arena_alloc(&batch->arena, count * sizeof(*hooks));

    if (!hooks)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        hooks[i].attached = from[i].attached;
        if (batch_set(batch, &hooks[i].name, from[i].name) ||
            (from[i].why && batch_set(batch, &hooks[i].why, from[i].why)))
            return -ENOMEM;
    }
    batch->coverage.hooks = hooks;
    batch->coverage.hook_count = count;
    return 0;
}

int batch_bypasses(struct batch *batch, const struct bypass *from, uint32_t count)
{
    struct bypass *bypasses = arena_alloc(&batch->arena, count * sizeof(*bypasses));

    if (!bypasses)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (batch_set(batch, &bypasses[i].what, from[i].what) ||
            batch_set(batch, &bypasses[i].device, from[i].device) ||
            batch_set(batch, &bypasses[i].why, from[i].why))
            return -ENOMEM;
    batch->coverage.bypasses = bypasses;
    batch->coverage.bypass_count = count;
    return 0;
}

int batch_dropped(struct batch *batch, const struct dropped *from, uint32_t count)
{
    struct dropped *dropped = arena_alloc(&batch->arena, count * sizeof(*dropped));

    if (!dropped)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        dropped[i] = from[i];
        dropped[i].stream = dropped[i].why = NULL; /* copies, even of what is equal */
        if (batch_set(batch, &dropped[i].stream, from[i].stream) || batch_set(batch, &dropped[i].why, from[i].why))
            return -ENOMEM;
    }
    batch->coverage.dropped = dropped;
    batch->coverage.dropped_count = count;
    return 0;
}
