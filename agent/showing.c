/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/showing.h"

#include <stdlib.h>

#include "agent/visible.h"
#include "lib/cleanup.h"
#include "lib/recording.h"

void showing_begin(const struct batch *batch, struct showing *showing)
{
    *showing = (struct showing){.batch = batch};
    for (uint32_t i = 0; i < batch->process_count && !showing->by_thread; i++)
        showing->by_thread = batch->processes[i].tid != 0;
}

void showing_clear(struct showing *showing)
{
    for (unsigned i = 0; i < 4; i++)
        free(showing->frames[i / 2][i % 2].data);
    batch_free(showing->folded);
}

/* The batch as finely as a client wants it; NULL without memory. */
static const struct batch *fold(struct showing *showing, bool threads)
{
    _cleanup_(batch_freep) struct batch *folded = NULL;

    if (threads || !showing->by_thread)
        return showing->batch;
    if (!showing->folded) {
        if (batch_new(&folded) || batch_merge(folded, showing->batch, GRAIN_PROCESSES))
            return NULL;
        showing->folded = take_pointer(folded);
    }
    return showing->folded;
}

static int make_frame(const struct batch *batch, bool packed, struct frame *frame)
{
    return (packed ? frame_pack : frame_encode)(batch, &frame->data, &frame->size);
}

static bool put_own(const struct batch *batch, struct client *client)
{
    _cleanup_(batch_freep) struct batch *visible = NULL;
    struct frame frame = {0};
    bool alive;

    if (visible_batch(batch, client->uid, &visible) || make_frame(visible, client->packed, &frame))
        return true;
    alive = client_put(client, frame.data, frame.size);
    free(frame.data);
    return alive;
}

bool showing_put(struct showing *showing, struct client *client)
{
    struct frame *frame = &showing->frames[client->threads][client->packed];
    const struct batch *batch = fold(showing, client->threads);

    if (!batch)
        return true;
    if (!client->privileged)
        return put_own(batch, client);
    if (!frame->data && make_frame(batch, client->packed, frame))
        return true;
    return client_put(client, frame->data, frame->size);
}
