/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/dropped.h"
#include "agent/queue.h"
#include "agent/spool_disk.h"
#include "agent/streams.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/recording.h"

#define PUT_OFF_FIRST_MS 1000
#define PUT_OFF_LAST_MS  600000
#define SENT_BEFORE      64 /* batches that a process before us may have had under way: one body's */

struct spool {
    pthread_mutex_t lock;
    char *path;
    struct spool_disk disk; /* closed while it is full or read-only */
    struct streams streams;
    struct dropped_list dropped;
    uint64_t last; /* place given out */
    uint64_t max; /* bytes of disk */
    struct queue queue;
    uint64_t dropped_batches;
    bool unsaved; /* of dropped: the disk was full or read-only */
    bool stuck; /* something acknowledged cannot be deleted; said once */
};

static int found(void *context, uint64_t number, uint64_t size)
{
    const struct waiting waiting = {.place = number, .usage = spool_disk_usage(size)};

    return queue_add(&((struct spool *)context)->queue, &waiting);
}

/* Everything of it was read from the disk, or is empty. */
static int load(struct spool *spool)
{
    int err = spool_disk_scan(&spool->disk, found, spool);
    int told;

    if (err)
        return err;
    queue_sort(&spool->queue);
    for (unsigned i = 0; i < spool->queue.count && i < SENT_BEFORE; i++)
        queue_at(&spool->queue, i)->maybe_sent = true;
    err = streams_load(&spool->streams, &spool->disk);
    if (err)
        return err;
    if (spool->queue.count && spool->last < queue_at(&spool->queue, spool->queue.count - 1)->place)
        spool->last = queue_at(&spool->queue, spool->queue.count - 1)->place;
    if (spool->streams.count && spool->last < spool->streams.list[spool->streams.count - 1].first)
        spool->last = spool->streams.list[spool->streams.count - 1].first;
    streams_trim(&spool->streams, spool->queue.count ? queue_at(&spool->queue, 0)->place : spool->last + 1);
    told = dropped_load(&spool->dropped, &spool->disk);
    if (told && told != -ENOENT)
        log_warning("state %s: the file dropped is damaged: what it counted stays unknown to the collector",
                    spool->path);
    err = streams_begin(&spool->streams, spool->last + 1);
    if (!err && streams_save(&spool->streams, &spool->disk))
        log_debug("state %s: streams is not written", spool->path); /* only names what is damaged later */
    return err;
}

static void unload(struct spool *spool)
{
    spool_disk_close(&spool->disk);
    streams_free(&spool->streams);
    dropped_free(&spool->dropped);
    queue_clear(&spool->queue);
}

/* Open, or open again after the disk was full or the directory has gone. 0 or -errno. */
static int prepare(struct spool *spool)
{
    int err;

    if (spool->disk.directory >= 0)
        return 0;
    err = spool_disk_open(spool->path, &spool->disk);
    if (!err)
        err = load(spool);
    if (err)
        unload(spool);
    return err;
}

static bool may_pass(int err)
{
    return err == -ENOSPC || err == -EDQUOT || err == -EROFS;
}

int spool_open(const char *directory, uint64_t max, struct spool **out)
{
    struct spool *spool = calloc(1, sizeof(*spool));
    int err;

    if (!spool)
        return -ENOMEM;
    pthread_mutex_init(&spool->lock, NULL);
    spool->disk = (struct spool_disk){-1, -1, -1};
    spool->max = max;
    spool->path = strdup(directory);
    err = spool->path ? prepare(spool) : -ENOMEM;
    if (may_pass(err)) {
        log_warning("state directory %s: %s; keeping the counts in memory and trying again", directory, log_errno(err));
        err = 0;
    }
    if (err) {
        if (err == -EBUSY)
            log_error("state directory %s: another agent uses it: stop that one, or give another --state", directory);
        else
            log_error("state directory %s: %s: give --state a directory that can be written", directory,
                      log_errno(err));
        spool_close(spool);
        return err;
    }
    *out = spool;
    return 0;
}

int spool_give(struct spool *spool, uid_t uid, gid_t gid)
{
    int err = spool->disk.directory < 0 ? 0 : spool_disk_give(&spool->disk, uid, gid);

    if (!err || may_pass(err))
        return 0;
    log_error("state directory %s: %s: it must belong to the agent's user", spool->path, log_errno(err));
    return err;
}

void spool_close(struct spool *spool)
{
    if (!spool)
        return;
    unload(spool);
    pthread_mutex_destroy(&spool->lock);
    free(spool->path);
    free(spool);
}

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

static int save_dropped(struct spool *spool)
{
    int err = dropped_save(&spool->dropped, &spool->disk);

    spool->unsaved = err != 0;
    return err;
}

/* A batch will never arrive: counted, what it carried is to be told again, and all that is on disk before the batch
   goes from there. Without room for that it stays (-errno), unless it must go. */
static int give_up(struct spool *spool, unsigned i, const char *why, bool keep, bool must)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    struct waiting waiting = *queue_at(&spool->queue, i);
    struct dropped range;
    int err, saved;

    describe(spool, waiting.place, why, &batch, &range);
    dropped_again(&spool->dropped, waiting.place);
    if (range.stream)
        dropped_add(&spool->dropped, &range, waiting.maybe_sent);
    saved = save_dropped(spool);
    if (saved && !must)
        return saved;
    spool->dropped_batches++;
    err = keep ? spool_disk_set_aside(&spool->disk, waiting.place) : spool_disk_remove(&spool->disk, waiting.place);
    if (saved)
        saved = save_dropped(spool);
    if (err || saved)
        log_debug("state %s: batch %" PRIu64 ": %s", spool->path, waiting.place, log_errno(err ? err : saved));
    queue_remove(&spool->queue, i);
    return 0;
}

/* The directory has been removed or replaced under us: what was in it is gone, and told so. 0 or -errno. */
static int start_over(struct spool *spool)
{
    struct dropped_list dropped;

    log_warning("state %s: the directory has gone, and %u batches with it: making it anew", spool->path,
                spool->queue.count);
    for (unsigned i = 0; i < spool->queue.count; i++) {
        struct waiting waiting = *queue_at(&spool->queue, i);
        const struct stream *stream = streams_find(&spool->streams, waiting.place);
        struct dropped range = {.ops = DROPPED_UNKNOWN, .why = "gone"};

        dropped_again(&spool->dropped, waiting.place);
        if (!stream)
            continue;
        range.stream = stream->name;
        range.first = range.last = waiting.place - stream->first + 1;
        dropped_add(&spool->dropped, &range, waiting.maybe_sent);
    }
    dropped = spool->dropped;
    spool->dropped = (struct dropped_list){0};
    unload(spool);
    spool->dropped = dropped;
    return prepare(spool);
}

/* At the 1st, 2nd, 4th, 8th ... batch. */
static void say_dropped(const struct spool *spool)
{
    if (!(spool->dropped_batches & (spool->dropped_batches - 1)))
        log_warning("state %s: --spool-max is reached: dropped the oldest batch, %" PRIu64 " so far", spool->path,
                    spool->dropped_batches);
}

/* 0 with whether something had to go, or -errno. */
static int make_room(struct spool *spool, uint64_t usage, bool *dropped)
{
    int err = 0;

    *dropped = false;
    while (!err && spool->queue.count && spool->queue.usage + usage > spool->max) {
        err = give_up(spool, 0, "quota", false, false);
        if (err)
            break;
        say_dropped(spool);
        *dropped = true;
    }
    return err;
}

static int encode(const struct spool *spool, struct batch *batch, void **frame, size_t *size)
{
    int err = dropped_tell(&spool->dropped, batch);

    return err ? err : frame_encode(batch, frame, size);
}

static int append(struct spool *spool, struct batch *batch)
{
    struct waiting waiting = {.place = spool->last + 1};
    const struct stream *stream = streams_find(&spool->streams, waiting.place);
    _cleanup_free_ void *frame = NULL;
    bool dropped;
    size_t size;
    int err;

    batch->seq = waiting.place - stream->first + 1;
    err = batch_set(batch, &batch->stream, stream->name);
    if (!err)
        err = encode(spool, batch, &frame, &size);
    if (!err)
        err = make_room(spool, spool_disk_usage(size), &dropped);
    if (!err && dropped) {
        free(take_pointer(frame));
        err = encode(spool, batch, &frame, &size);
    }
    if (err)
        return err;
    waiting.usage = spool_disk_usage(size);
    err = queue_add(&spool->queue, &waiting);
    if (err)
        return err;
    err = spool_disk_write(&spool->disk, waiting.place, frame, size);
    if (err) {
        queue_remove(&spool->queue, spool->queue.count - 1);
        return err;
    }
    spool->last = waiting.place;
    if (spool->unsaved)
        save_dropped(spool);
    dropped_carried(&spool->dropped, waiting.place);
    return 0;
}

int spool_append(struct spool *spool, struct batch *batch)
{
    int err;

    pthread_mutex_lock(&spool->lock);
    err = prepare(spool);
    if (!err)
        err = append(spool, batch);
    if (err == -ENOENT) {
        err = start_over(spool);
        if (!err)
            err = append(spool, batch);
    }
    pthread_mutex_unlock(&spool->lock);
    return err;
}

unsigned spool_pending(struct spool *spool)
{
    unsigned count;

    pthread_mutex_lock(&spool->lock);
    count = spool->queue.count;
    pthread_mutex_unlock(&spool->lock);
    return count;
}

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
        give_up(spool, i, err == -ENOENT ? "gone" : "damaged", err == -EBADMSG, true);
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
        save_dropped(spool); /* else told again, which does no harm */
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
        give_up(spool, i, "refused", true, true);
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
