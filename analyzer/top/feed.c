/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/thread.h"

#define WARM_SAMPLES 20 /* before one that is jumped to, so that it has a history */

struct feed {
    struct source *source;
    bool replay;
    int event;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* what the reader is told */
    bool paused, seeking;
    unsigned steps;
    double speed;
    int64_t target_ns;
    /* what it hands out */
    bool full, jumped, warming;
    int status; /* of the item: 1, 0 at the end, or -errno */
    struct sample sample;
};

int sample_next(struct source *source, struct sample *out)
{
    _cleanup_(sample_clear) struct sample sample = {0};
    struct batch *batch;
    int got = source->next(source, &batch);

    if (got != 1)
        return got;
    if (!source->more) {
        sample.batch = batch;
    } else {
        int err = sample_add_node(&sample, batch);

        while (!err && source->more(source)) {
            got = source->next(source, &batch);
            if (got != 1)
                return got;
            err = sample_add_node(&sample, batch);
        }
        if (err < 0) {
            log_error("cannot add up the nodes: %s", log_why(err));
            return err;
        }
    }
    *out = sample;
    sample = (struct sample){0};
    return 1;
}

static void wake(struct feed *feed)
{
    uint64_t one = 1;

    if (write(feed->event, &one, sizeof(one)) < 0)
        return; /* it is readable already */
}

/* Hands an item out once the one before it is taken. */
static void put(struct feed *feed, int status, struct sample *sample, bool jumped, bool warming)
{
    pthread_mutex_lock(&feed->lock);
    while (feed->full)
        pthread_cond_wait(&feed->changed, &feed->lock);
    feed->full = true;
    feed->status = status;
    feed->jumped = jumped;
    feed->warming = warming;
    if (sample)
        feed->sample = *sample;
    wake(feed);
    pthread_mutex_unlock(&feed->lock);
}

/* Waits until the sample has been shown for as long as it took, or something else is asked for. */
static void pace(struct feed *feed, uint64_t duration_ns)
{
    int64_t begin = monotonic_ns();

    pthread_mutex_lock(&feed->lock);
    while (!feed->seeking && !feed->steps) {
        int64_t until = begin + (int64_t)((double)duration_ns / feed->speed);
        struct timespec time = {until / 1000000000, until % 1000000000};

        if (feed->paused)
            pthread_cond_wait(&feed->changed, &feed->lock);
        else if (monotonic_ns() >= until)
            break;
        else
            pthread_cond_timedwait(&feed->changed, &feed->lock, &time);
    }
    feed->steps -= feed->steps > 0 && !feed->seeking;
    pthread_mutex_unlock(&feed->lock);
}

static bool take_seek(struct feed *feed, int64_t *target_ns)
{
    bool seeking;

    pthread_mutex_lock(&feed->lock);
    seeking = feed->seeking;
    feed->seeking = false;
    if (seeking)
        feed->steps = 0;
    *target_ns = feed->target_ns;
    pthread_mutex_unlock(&feed->lock);
    return seeking;
}

/* To a few samples before the one that holds a time; *until is that one's beginning. 0, or as source->seek(). */
static int seek(struct feed *feed, int64_t target_ns, int64_t *until)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    int64_t before;
    int err = feed->source->seek(feed->source, target_ns, until);

    if (err || feed->source->next(feed->source, &batch) != 1)
        return err;
    return feed->source->seek(feed->source, *until - WARM_SAMPLES * (int64_t)batch->interval_ms * 1000000, &before);
}

static void *read_samples(void *argument)
{
    struct feed *feed = argument;
    int64_t target_ns, until_ns = INT64_MIN;
    bool jumped = false;
    int got;

    for (;;) {
        struct sample sample = {0};
        uint64_t duration_ns;
        int64_t start_ns;

        if (feed->replay && take_seek(feed, &target_ns)) {
            got = seek(feed, target_ns, &until_ns);
            if (got < 0)
                break;
            jumped = true;
        }
        got = sample_next(feed->source, &sample);
        if (got == -EINTR)
            continue;
        if (got == 0 && feed->source->seek) { /* one can still go back */
            put(feed, 0, NULL, false, false);
            until_ns = INT64_MIN;
            pthread_mutex_lock(&feed->lock);
            while (!feed->seeking)
                pthread_cond_wait(&feed->changed, &feed->lock);
            pthread_mutex_unlock(&feed->lock);
            continue;
        }
        if (got != 1)
            break;
        start_ns = sample.batch->start_ns;
        duration_ns = sample.batch->duration_ns; /* once handed out it is the other thread's */
        put(feed, 1, &sample, jumped, start_ns < until_ns);
        jumped = false;
        if (feed->replay && start_ns >= until_ns)
            pace(feed, duration_ns);
    }
    put(feed, got, NULL, false, false);
    return NULL;
}

int feed_new(struct source *source, bool replay, struct feed **out)
{
    struct feed *feed = calloc(1, sizeof(*feed));
    pthread_t thread;
    int err;

    if (!feed)
        return -ENOMEM;
    *feed = (struct feed){.source = source, .replay = replay, .speed = 1};
    feed->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (feed->event < 0) {
        err = -errno;
        free(feed);
        return err;
    }
    pthread_mutex_init(&feed->lock, NULL);
    thread_condition(&feed->changed);
    err = thread_start(&thread, read_samples, feed);
    if (err) {
        close(feed->event);
        free(feed);
        return err;
    }
    pthread_detach(thread);
    *out = feed;
    return 0;
}

int feed_fd(const struct feed *feed)
{
    return feed->event;
}

int feed_take(struct feed *feed, struct sample *out, bool *jumped, bool *warming)
{
    uint64_t count;
    int status = 0;

    pthread_mutex_lock(&feed->lock);
    if (read(feed->event, &count, sizeof(count)) < 0)
        count = 0;
    if (feed->full) {
        feed->full = false;
        status = feed->status ? feed->status : -ENODATA;
        *jumped = feed->jumped;
        *warming = feed->warming;
        if (status == 1)
            *out = feed->sample;
        pthread_cond_broadcast(&feed->changed);
    }
    pthread_mutex_unlock(&feed->lock);
    return status;
}

void feed_pause(struct feed *feed, bool pause)
{
    pthread_mutex_lock(&feed->lock);
    feed->paused = pause;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}

void feed_step(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->steps++;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}

bool feed_seek(struct feed *feed, int64_t ns)
{
    if (!feed->source->seek)
        return false;
    pthread_mutex_lock(&feed->lock);
    feed->seeking = true;
    feed->target_ns = ns;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
    return true;
}

void feed_interval(struct feed *feed, uint64_t interval_ns)
{
    if (feed->source->pace)
        feed->source->pace(feed->source, interval_ns);
}

bool feed_has_threads(const struct feed *feed)
{
    return feed->source->by_thread != NULL;
}

void feed_by_thread(struct feed *feed, bool threads)
{
    if (feed->source->by_thread)
        feed->source->by_thread(feed->source, threads);
}

void feed_speed(struct feed *feed, double speed)
{
    pthread_mutex_lock(&feed->lock);
    feed->speed = speed;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}
