/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "lib/thread.h"

#define GATHER_NS 10000000 /* a transaction costs the database as much as several batches in it */

struct worker {
    pthread_t thread;
    struct pool *pool;
    struct store *store;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct task *first;
    struct task **last;
    unsigned queued, queue_max;
    int64_t together_ns; /* when tasks that go together were last taken; monotonic */
    bool ending;
    unsigned threads;
    struct worker workers[];
};

/* Out of the queue: its first task, and those that go together with it, wherever they stand. */
static struct task *take(struct pool *pool)
{
    struct task *first = pool->first, *end = first, **link = &pool->first;
    unsigned n = 1;

    pool->first = first->next;
    while (*link && first->run_together && n < POOL_TOGETHER) {
        struct task *task = *link;

        if (task->run_together != first->run_together) {
            link = &task->next;
            continue;
        }
        *link = task->next;
        end->next = task;
        end = task;
        n++;
    }
    if (!*link)
        pool->last = link;
    end->next = NULL;
    pool->queued -= n;
    return first;
}

/* Until when the queue's first task waits for others to go with it: not when none went lately, or many have come. */
static int64_t gathers_until(const struct pool *pool)
{
    bool gathers = pool->first->run_together && pool->queued < POOL_TOGETHER && !pool->ending;

    return gathers ? pool->together_ns + GATHER_NS : 0;
}

/* For what may have changed by then. False: there is something to take, or the end has come. */
static bool await(struct pool *pool)
{
    int64_t until;

    if (!pool->first && pool->ending)
        return false;
    if (!pool->first) {
        pthread_cond_wait(&pool->work, &pool->lock);
        return true;
    }
    until = gathers_until(pool);
    if (until <= monotonic_ns())
        return false;
    pthread_cond_timedwait(&pool->work, &pool->lock,
                           &(struct timespec){.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000});
    return true;
}

static struct task *next_task(struct pool *pool)
{
    struct task *task = NULL;

    pthread_mutex_lock(&pool->lock);
    while (await(pool))
        ;
    if (pool->first)
        task = take(pool);
    if (task && task->run_together)
        pool->together_ns = monotonic_ns();
    pthread_mutex_unlock(&pool->lock);
    return task;
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct task *task;

    while ((task = next_task(worker->pool)))
        if (task->next)
            task->run_together(task, worker->store);
        else
            task->run(task, worker->store);
    return NULL;
}

int pool_new(const char *conninfo, unsigned threads, unsigned queue_max, struct pool **out)
{
    struct pool *pool = calloc(1, sizeof(*pool) + threads * sizeof(*pool->workers));

    if (!pool)
        return -ENOMEM;
    pthread_mutex_init(&pool->lock, NULL);
    thread_condition(&pool->work);
    pool->last = &pool->first;
    pool->queue_max = queue_max;
    for (; pool->threads < threads; pool->threads++) {
        struct worker *worker = &pool->workers[pool->threads];
        int err = store_new(conninfo, &worker->store);

        worker->pool = pool;
        if (!err)
            err = -pthread_create(&worker->thread, NULL, work, worker);
        if (err) {
            store_free(worker->store);
            pool_free(pool);
            return err;
        }
    }
    *out = pool;
    return 0;
}

bool pool_push(struct pool *pool, struct task *task)
{
    bool room;

    pthread_mutex_lock(&pool->lock);
    room = pool->queued < pool->queue_max && !pool->ending;
    if (room) {
        task->next = NULL;
        *pool->last = task;
        pool->last = &task->next;
        pool->queued++;
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

void pool_stop(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (; pool->threads; pool->threads--) {
        pthread_join(pool->workers[pool->threads - 1].thread, NULL);
        store_free(pool->workers[pool->threads - 1].store);
    }
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    pool_stop(pool);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
