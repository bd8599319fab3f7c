/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/thread.h"

#define KEEPERS 32

struct keeper {
    struct keepers *all;
    pthread_t thread;
    const int *own; /* ascending */
    unsigned count;
};

struct keepers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct keeper each[KEEPERS];
    unsigned started, ready;
    int err; /* of the first that could not take its share; 0: none */
    bool over;
    int descriptors[]; /* ascending */
};

/* Leaves this thread its share of the table, and everybody else theirs. */
static int take(const struct keeper *keeper)
{
    unsigned from = 0;

    if (unshare(CLONE_FILES))
        return -errno;
    for (unsigned i = 0; i < keeper->count; i++) {
        unsigned own = (unsigned)keeper->own[i];

        if (own > from && close_range(from, own - 1, 0))
            return -errno;
        from = own + 1;
    }
    return close_range(from, UINT_MAX, 0) ? -errno : 0;
}

/* Leaves the share to a process that closes it when this thread has: the last who does so is the one that waits. */
static void bequeath(void)
{
    int gate[2];
    pid_t child;
    char word;

    if (pipe2(gate, O_CLOEXEC))
        return;
    child = fork();
    if (child == 0) {
        if (fork() == 0) {
            close(gate[1]);
            _exit((int)read(gate[0], &word, 1));
        }
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void *keep(void *context)
{
    struct keeper *keeper = context;
    struct keepers *all = keeper->all;
    int err = take(keeper);

    pthread_mutex_lock(&all->lock);
    all->ready++;
    all->err = all->err ? all->err : err;
    pthread_cond_broadcast(&all->changed);
    while (!all->over)
        pthread_cond_wait(&all->changed, &all->lock);
    err = all->err;
    pthread_mutex_unlock(&all->lock);
    if (!err)
        bequeath();
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* 0, or the error of one that could not take its share. */
static int wait_until_ready(struct keepers *all)
{
    int err;

    pthread_mutex_lock(&all->lock);
    while (all->ready < all->started)
        pthread_cond_wait(&all->changed, &all->lock);
    err = all->err;
    pthread_mutex_unlock(&all->lock);
    return err;
}

int keepers_new(struct keepers **out, const int *descriptors, unsigned count)
{
    struct keepers *all = calloc(1, sizeof(*all) + count * sizeof(*all->descriptors));
    int err = 0;

    if (!all)
        return -ENOMEM;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, NULL);
    memcpy(all->descriptors, descriptors, count * sizeof(*descriptors));
    qsort(all->descriptors, count, sizeof(*all->descriptors), ascending);
    for (unsigned i = 0; i < KEEPERS && !err; i++) {
        unsigned first = count * i / KEEPERS;

        all->each[i] = (struct keeper){
            .all = all,
            .own = all->descriptors + first,
            .count = count * (i + 1) / KEEPERS - first,
        };
        err = thread_start(&all->each[i].thread, keep, &all->each[i]);
        all->started += !err;
    }
    if (!err)
        err = wait_until_ready(all);
    if (err) {
        pthread_mutex_lock(&all->lock);
        all->err = err;
        pthread_mutex_unlock(&all->lock);
        keepers_free(&all);
        return err;
    }
    for (unsigned i = 0; i < count; i++)
        close(descriptors[i]);
    *out = all;
    return 0;
}

void keepers_free(struct keepers **keepers)
{
    struct keepers *all = *keepers;

    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->over = true;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->lock);
    for (unsigned i = 0; i < all->started; i++)
        pthread_join(all->each[i].thread, NULL);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
    *keepers = NULL;
}
