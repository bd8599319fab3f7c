/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cleanup.h"
#include "lib/thread.h"

#define PATIENCE_NS 100000000L
/* So many may be stuck at once; then nothing more is read. */
#define STUCK_MAX 8

/* Shared by the reader and its thread; whoever is left last frees it. */
struct errand {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    reader_work work;
    char *root, *path;
    bool asked, answered, abandoned, over;
    int err;
    struct reader_file file;
};

struct reader {
    reader_work work;
    char *root;
    struct errand *errand; /* NULL: no thread */
};

static atomic_int stuck; /* threads that nobody waits for any more */

static void errand_free(struct errand *errand)
{
    pthread_mutex_destroy(&errand->lock);
    pthread_cond_destroy(&errand->changed);
    free(errand->file.text);
    free(errand->path);
    free(errand->root);
    free(errand);
}

static void *run(void *argument)
{
    struct errand *errand = argument;

    pthread_mutex_lock(&errand->lock);
    while (!errand->over) {
        struct reader_file file = {0};
        char *path;
        int err;

        if (!errand->asked) {
            pthread_cond_wait(&errand->changed, &errand->lock);
            continue;
        }
        path = take_pointer(errand->path);
        errand->asked = false;
        pthread_mutex_unlock(&errand->lock);
        err = errand->work(errand->root, path, &file);
        free(path);
        pthread_mutex_lock(&errand->lock);
        errand->err = err;
        errand->file = file;
        errand->answered = true;
        if (errand->abandoned) {
            stuck--;
            break;
        }
        pthread_cond_signal(&errand->changed);
    }
    pthread_mutex_unlock(&errand->lock);
    errand_free(errand);
    return NULL;
}

static int start(struct reader *reader)
{
    struct errand *errand = calloc(1, sizeof(*errand));
    pthread_t thread;
    int err;

    if (!errand)
        return -ENOMEM;
    errand->work = reader->work;
    errand->root = strdup(reader->root);
    if (!errand->root) {
        free(errand);
        return -ENOMEM;
    }
    pthread_mutex_init(&errand->lock, NULL);
    thread_condition(&errand->changed);
    err = thread_start(&thread, run, errand);
    if (err) {
        errand_free(errand);
        return err;
    }
    pthread_detach(thread);
    reader->errand = errand;
    return 0;
}

int reader_new(const char *root, reader_work work, struct reader **out)
{
    struct reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return -ENOMEM;
    reader->work = work;
    reader->root = strdup(root);
    if (!reader->root) {
        free(reader);
        return -ENOMEM;
    }
    *out = reader;
    return 0;
}

void reader_free(struct reader *reader)
{
    if (!reader)
        return;
    if (reader->errand) {
        struct errand *errand = reader->errand;

        pthread_mutex_lock(&errand->lock);
        errand->over = true;
        pthread_cond_signal(&errand->changed);
        pthread_mutex_unlock(&errand->lock);
    }
    free(reader->root);
    free(reader);
}

int reader_read(struct reader *reader, const char *path, struct reader_file *file)
{
    char *copy = strdup(path);
    struct errand *errand;
    struct timespec until;
    int err = !copy ? -ENOMEM : reader->errand ? 0 : stuck >= STUCK_MAX ? -ETIMEDOUT : start(reader);

    if (err) {
        free(copy);
        return err;
    }
    errand = reader->errand;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PATIENCE_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&errand->lock);
    errand->path = copy;
    errand->asked = true;
    errand->answered = false;
    pthread_cond_signal(&errand->changed);
    while (!errand->answered && !err)
        err = -pthread_cond_timedwait(&errand->changed, &errand->lock, &until);
    if (errand->answered) {
        err = errand->err;
        if (!err)
            *file = errand->file;
        else
            free(errand->file.text);
        errand->file = (struct reader_file){0};
    } else {
        errand->abandoned = true;
        reader->errand = NULL;
        stuck++;
    }
    pthread_mutex_unlock(&errand->lock);
    return err;
}
