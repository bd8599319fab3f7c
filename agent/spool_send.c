/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/spool_private.h"

#include <errno.h>
#include <inttypes.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/recording.h"

#define PUT_OFF_FIRST_MS 1000
#define PUT_OFF_LAST_MS  600000

/* At the position or behind it. */
static int next(struct spool *spool, unsigned i, uint64_t *place, void **payload, size_t *size, unsigned *wait_ms)
{
    int64_t now = monotonic_ms(), soonest = INT64_MAX;
    unsigned gone = 0;
    int got = 0;

    *wait_ms = 0;
    while (i < spool->queue.count) {
        struct waiting *waiting = queue_at(&spool->queue, i);
        int err;

        if (waiting->not_before > now) {
            if (waiting->not_before < soonest)
                soonest = waiting->not_before;
            *wait_ms = (unsigned)(soonest - now);
            i++;
            continue;
        }
        err = spool_disk_read(&spool->disk, waiting->place, payload, size);
        if (!err) {
            waiting->maybe_sent = true;
            *place = waiting->place;
            got = 1;
            break;
        }
        if (err != -EBADMSG && err != -ENOENT) {
            got = err;
            break;
        }
        if (err == -EBADMSG)
            log_warning("state %s: batch %" PRIu64 " is damaged and has been set aside in refused/", spool->path,
                        waiting->place);
        gone += err == -ENOENT;
        spool_give_up(spool, i, err == -ENOENT ? "gone" : "damaged", err == -EBADMSG, true);
    }
    if (gone)
        log_warning("state %s: %u batches have gone without our doing", spool->path, gone);
    return got;
}

int spool_next(struct spool *spool, uint64_t after, uint64_t *place, void **payload, size_t *size, unsigned *wait_ms)
{
    int got;

    pthread_mutex_lock(&spool->lock);
    got = next(spool, queue_seek(&spool->queue, after + 1), place, payload, size, wait_ms);
    pthread_mutex_unlock(&spool->lock);
    return got;
}

static int acknowledge(struct spool *spool, uint64_t place)
{
    unsigned i;
    int err;

    if (!queue_find(&spool->queue, place, &i)) /* dropped while it was under way */
        return 0;
    if (dropped_arrived(&spool->dropped, place))
        spool_save_dropped(spool); /* else told again, which does no harm */
    queue_remove(&spool->queue, i);
    err = spool_disk_remove(&spool->disk, place);
    if (err == -ENOENT)
        err = 0;
    if (err && !spool->stuck)
        log_warning("state %s: what has arrived cannot be deleted: %s; it will be sent again at the next start",
                    spool->path, log_errno(err));
    spool->stuck = err != 0;
    return 0;
}

int spool_acknowledge(struct spool *spool, uint64_t place)
{
    int err;

    pthread_mutex_lock(&spool->lock);
    err = acknowledge(spool, place);
    pthread_mutex_unlock(&spool->lock);
    return err;
}

int spool_refuse(struct spool *spool, uint64_t place)
{
    unsigned i;

    pthread_mutex_lock(&spool->lock);
    if (queue_find(&spool->queue, place, &i))
        spool_give_up(spool, i, "refused", true, true);
    pthread_mutex_unlock(&spool->lock);
    return 0;
}

void spool_put_off(struct spool *spool, uint64_t place)
{
    unsigned i;

    pthread_mutex_lock(&spool->lock);
    if (queue_find(&spool->queue, place, &i)) {
        struct waiting *waiting = queue_at(&spool->queue, i);

        waiting->put_off_ms = waiting->put_off_ms ? waiting->put_off_ms * 2 : PUT_OFF_FIRST_MS;
        if (waiting->put_off_ms > PUT_OFF_LAST_MS)
            waiting->put_off_ms = PUT_OFF_LAST_MS;
        waiting->not_before = monotonic_ms() + waiting->put_off_ms;
    }
    pthread_mutex_unlock(&spool->lock);
}

/* The same file, replaced as a whole: at no moment are there two of them. */
static int restream(struct spool *spool, uint64_t place)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    _cleanup_free_ void *payload = NULL, *frame = NULL;
    struct codec_error error;
    char stream[33];
    size_t size;
    int err = spool_disk_read(&spool->disk, place, &payload, &size);

    if (!err)
        err = frame_decode(payload, size, &batch, &error);
    if (err)
        return err;
    streams_derive(payload, size, stream);
    batch->seq = 1;
    err = batch_set(batch, &batch->stream, stream);
    if (!err)
        err = frame_encode(batch, &frame, &size);
    if (!err)
        err = spool_disk_write(&spool->disk, place, frame, size);
    if (err)
        return err;
    err = streams_begin(&spool->streams, spool->last + 1);
    return err ? err : streams_save(&spool->streams, &spool->disk);
}

int spool_restream(struct spool *spool, uint64_t place)
{
    unsigned i;
    int err = 0;

    pthread_mutex_lock(&spool->lock);
    if (queue_find(&spool->queue, place, &i))
        err = restream(spool, place);
    pthread_mutex_unlock(&spool->lock);
    return err;
}
