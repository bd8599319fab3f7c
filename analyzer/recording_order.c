/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/recording_order.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/order.h"
#include "lib/vector.h"

static int by_time(const void *a, const void *b)
{
    const struct frame_place *x = a, *y = b;

    return ORDER(x->start_ns, y->start_ns) ?: ORDER(x->offset, y->offset);
}

/* Passes a frame, or damage; *start_ns is left alone where no batch says it. 1, 0 at the file's end, or -errno. */
static int next_start(struct recording_reader *reader, int64_t *start_ns)
{
    const void *payload;
    struct codec_error error;
    size_t size;
    int got = recording_frame(reader, &payload, &size, &error), err = 0;

    if (got == 1)
        err = frame_start(payload, size, start_ns);
    if (err == -ENOMEM)
        return err;
    return got == -EBADMSG ? 1 : got;
}

/* Appends the frame that begins there. 1, 0 at the file's end, or -errno. */
static int add_next(struct recording_order *order, struct recording_reader *reader)
{
    const struct frame_place *before = order->count ? &order->list[order->count - 1] : NULL;
    struct frame_place place = {
        .start_ns = before ? before->start_ns : INT64_MIN,
        .offset = recording_tell(reader),
        .number = order->count + 1,
    };
    int got = next_start(reader, &place.start_ns);

    if (got != 1)
        return got;
    if (vector_grow((void **)&order->list, &order->capacity, order->count, sizeof(*order->list)))
        return -ENOMEM;
    order->list[order->count++] = place;
    return 1;
}

/* 1 when the frames are not in the order of time, 0 or -errno. */
static int is_disordered(struct recording_reader *reader)
{
    int64_t before = INT64_MIN, start_ns = INT64_MIN;
    int got;

    while ((got = next_start(reader, &start_ns)) == 1 && start_ns >= before)
        before = start_ns;
    return got;
}

int recording_order_find(struct recording_order *order, struct recording_reader *reader)
{
    const uint64_t first = recording_tell(reader);
    int got = is_disordered(reader), err = recording_seek(reader, first);

    if (got <= 0 || err)
        return got < 0 ? got : err;
    while ((got = add_next(order, reader)) == 1)
        continue;
    if (got < 0)
        return got;
    qsort(order->list, order->count, sizeof(*order->list), by_time);
    return recording_seek(reader, first);
}

int recording_order_read(struct recording_order *order, struct recording_reader *reader, struct batch **out,
                         struct frame_place *place, struct codec_error *error)
{
    int err;

    if (order->next == order->count)
        return 0;
    *place = order->list[order->next++];
    err = recording_tell(reader) == place->offset ? 0 : recording_seek(reader, place->offset);
    return err ? err : recording_read(reader, out, error);
}

void recording_order_clear(struct recording_order *order)
{
    free(order->list);
    *order = (struct recording_order){0};
}
