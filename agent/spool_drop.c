/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/spool_private.h"

#include <inttypes.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/recording.h"

/* What is known of a batch that will not arrive; its payload, if it can be read. */
static void describe(const struct spool *spool, uint64_t place, const char *why, struct batch **batch,
                     struct dropped *out)
{
    const struct stream *stream = streams_find(&spool->streams, place);
    _cleanup_free_ void *payload = NULL;
    struct codec_error error;
    size_t size;

    *out = (struct dropped){.ops = DROPPED_UNKNOWN, .why = why};
    if (stream) {
        out->stream = stream->name;
        out->first = out->last = place - stream->first + 1;
    }
    if (spool_disk_read(&spool->disk, place, &payload, &size) || frame_decode(payload, size, batch, &error))
        return;
    out->stream = (*batch)->stream;
    out->first = out->last = (*batch)->seq;
    out->start_ns = (*batch)->start_ns;
    out->end_ns = (*batch)->start_ns + (int64_t)(*batch)->duration_ns;
    out->ops = 0;
    for (uint32_t i = 0; i < (*batch)->record_count; i++)
        out->ops += record_ops(&(*batch)->records[i]);
}

int spool_save_dropped(struct spool *spool)
{
    int err = dropped_save(&spool->dropped, &spool->disk);

    spool->unsaved = err != 0;
    return err;
}

int spool_give_up(struct spool *spool, unsigned i, const char *why, bool keep, bool must)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    struct waiting waiting = *queue_at(&spool->queue, i);
    struct dropped range;
    int err, saved;

    describe(spool, waiting.place, why, &batch, &range);
    dropped_again(&spool->dropped, waiting.place);
    if (range.stream)
        dropped_add(&spool->dropped, &range, waiting.maybe_sent);
    saved = spool_save_dropped(spool);
    if (saved && !must)
        return saved;
    spool->dropped_batches++;
    err = keep ? spool_disk_set_aside(&spool->disk, waiting.place) : spool_disk_remove(&spool->disk, waiting.place);
    if (saved)
        saved = spool_save_dropped(spool);
    if (err || saved)
        log_debug("state %s: batch %" PRIu64 ": %s", spool->path, waiting.place, log_errno(err ? err : saved));
    queue_remove(&spool->queue, i);
    return 0;
}

/* At the 1st, 2nd, 4th, 8th ... batch. */
static void say_dropped(const struct spool *spool)
{
    if (!(spool->dropped_batches & (spool->dropped_batches - 1)))
        log_warning("state %s: --spool-max is reached: dropped the oldest batch, %" PRIu64 " so far", spool->path,
                    spool->dropped_batches);
}

int spool_make_room(struct spool *spool, uint64_t usage, bool *dropped)
{
    int err = 0;

    *dropped = false;
    while (!err && spool->queue.count && spool->queue.usage + usage > spool->max) {
        err = spool_give_up(spool, 0, "quota", false, false);
        if (err)
            break;
        say_dropped(spool);
        *dropped = true;
    }
    return err;
}
