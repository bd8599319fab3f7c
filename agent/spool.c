/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/spool_private.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/recording.h"

#define SENT_BEFORE 64 /* batches that a process before us may have had under way: one body's */

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
        err = spool_make_room(spool, spool_disk_usage(size), &dropped);
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
        spool_save_dropped(spool);
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
