/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads with a database connection each, and a bounded queue in front of them, so that whoever
 * serves the network never waits for PostgreSQL.
 */
#ifndef UNBLEND_COLLECTOR_POOL_H
#define UNBLEND_COLLECTOR_POOL_H

#include <stdbool.h>

#include "collector/store.h"

#define POOL_TOGETHER 256 /* tasks */

/* Embedded in what is to be done. Tasks that wait and have the same way to be run together, are: a chain by next, in
   the order they came in. So the busier the database is, the more it gets done at once. */
struct task {
    struct task *next;
    void (*run)(struct task *task, struct store *store);
    void (*run_together)(struct task *first, struct store *store); /* NULL: always alone */
};

struct pool;

/* 0 or -errno. */
int pool_new(const char *conninfo, unsigned threads, unsigned queue_max, struct pool **out);

/* False when the queue is full; else the task will be run. */
bool pool_push(struct pool *pool, struct task *task);

/* Finishes what is queued and ends the threads; from then on there is no room. */
void pool_stop(struct pool *pool);

/* Stops it if need be; NULL is fine. */
void pool_free(struct pool *pool);

#endif
