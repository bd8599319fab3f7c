/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/decode_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/thread.h"

#define THREADS_MAX 8

/* A frame on its way: its turn in the file decides where it lies. */
struct place {
    struct batch *batch;
    struct codec_error error;
    int result; /* as recording_read() returns it */
    uint64_t end; /* of its frame, in the file */
    bool done;
};

struct decode_ahead {
    struct recording_reader *reader;
    pthread_mutex_t lock;
    pthread_cond_t came, taken;
    struct place places[AHEAD_BATCHES];
    uint64_t told; /* the end of the last frame that was handed out; its taker's */
    uint64_t read, handed; /* frames that threads have taken on, and those that were handed out */
    bool ended, over;      /* the file is used up; nobody wants more */
    pthread_t threads[THREADS_MAX];
    unsigned thread_count;
};

/* Takes the next frame off the file, under the lock. The payload is a copy. */
static int take(struct decode_ahead *a, struct place **place, void **payload, size_t *size)
{
    const void *frame;
    int result;

    while (!a->over && !a->ended && a->read - a->handed == AHEAD_BATCHES)
        pthread_cond_wait(&a->taken, &a->lock);
    if (a->over || a->ended)
        return 0;
    *place = &a->places[a->read++ % AHEAD_BATCHES];
    (*place)->done = false;
    result = recording_frame(a->reader, &frame, size, &(*place)->error);
    (*place)->end = recording_tell(a->reader);
    if (result == 1) {
        *payload = malloc(*size + 1);
        result = *payload ? 1 : -ENOMEM;
    }
    if (result == 1) {
        memcpy(*payload, frame, *size);
        return 1;
    }
    a->ended = result != -EBADMSG;
    (*place)->result = result;
    (*place)->done = true;
    pthread_cond_broadcast(&a->came);
    return a->ended ? 0 : -EAGAIN;
}

static void *work(void *data)
{
    struct decode_ahead *a = data;
    struct place *place;
    void *payload;
    size_t size;
    int got;

    pthread_mutex_lock(&a->lock);
    while ((got = take(a, &place, &payload, &size))) {
        struct batch *batch = NULL;
        struct codec_error error;
        int err;

        if (got == -EAGAIN)
            continue;
        pthread_mutex_unlock(&a->lock);
        err = frame_decode(payload, size, &batch, &error);
        free(payload);
        pthread_mutex_lock(&a->lock);
        place->batch = batch;
        place->error = error;
        place->result = err ? err : 1;
        place->done = true;
        pthread_cond_broadcast(&a->came);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void start(struct decode_ahead *a, unsigned threads)
{
    while (a->thread_count < threads && a->thread_count < THREADS_MAX &&
           !thread_start(&a->threads[a->thread_count], work, a))
        a->thread_count++;
}

int decode_start(struct recording_reader *reader, unsigned threads, struct decode_ahead **out)
{
    struct decode_ahead *a = calloc(1, sizeof(*a));

    if (!a)
        return -ENOMEM;
    a->reader = reader;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->came, NULL);
    pthread_cond_init(&a->taken, NULL);
    start(a, threads);
    if (!a->thread_count) {
        decode_free(a);
        return -EAGAIN;
    }
    *out = a;
    return 0;
}

int decode_next(struct decode_ahead *a, struct batch **out, struct codec_error *error)
{
    struct place *place = &a->places[a->handed % AHEAD_BATCHES];
    int result;

    pthread_mutex_lock(&a->lock);
    while (a->handed == a->read ? !a->ended : !place->done)
        pthread_cond_wait(&a->came, &a->lock);
    if (a->handed == a->read) {
        pthread_mutex_unlock(&a->lock);
        return 0;
    }
    result = place->result;
    a->told = place->end;
    if (result == 1)
        *out = take_pointer(place->batch);
    else if (result == -EBADMSG)
        *error = place->error;
    a->handed++;
    pthread_cond_broadcast(&a->taken);
    pthread_mutex_unlock(&a->lock);
    return result;
}

uint64_t decode_tell(const struct decode_ahead *a)
{
    return a->told;
}

void decode_free(struct decode_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->over = true;
    pthread_cond_broadcast(&a->taken);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->thread_count; i++)
        pthread_join(a->threads[i], NULL);
    for (unsigned i = 0; i < AHEAD_BATCHES; i++)
        batch_free(a->places[i].batch);
    pthread_cond_destroy(&a->came);
    pthread_cond_destroy(&a->taken);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
