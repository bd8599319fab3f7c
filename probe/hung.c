/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/hung.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/thread.h"
#include "probe/callpath.h"
#include "probe/syscall_table.h"

/* Calls that are known at once; a crowd beyond that shows as "?". */
#define CALLS_MAX 8192
#define PROBES    8

enum state { FREE, WAITING, KNOWN };

struct entry {
    uint32_t tid;
    uint8_t op;
    uint8_t state; /* enum state */
    uint64_t since_ns;
    uint64_t volume;
};

/* Shared with the thread, which outlives the owner when it waits for somebody's memory: the last of them frees it. */
struct hung {
    pthread_mutex_t lock;
    pthread_cond_t asked;
    struct entry *entries; /* CALLS_MAX, from the first question on */
    unsigned waiting;
    bool running, over;
    struct abi_syscall calls[ABI_SYSCALLS];
};

int hung_new(struct hung **out)
{
    struct hung *hung = calloc(1, sizeof(*hung));

    if (!hung)
        return -ENOMEM;
    pthread_mutex_init(&hung->lock, NULL);
    pthread_cond_init(&hung->asked, NULL);
    syscall_table(hung->calls, true);
    *out = hung;
    return 0;
}

static void release(struct hung *hung)
{
    pthread_cond_destroy(&hung->asked);
    pthread_mutex_destroy(&hung->lock);
    free(hung->entries);
    free(hung);
}

void hung_free(struct hung *hung)
{
    bool running;

    if (!hung)
        return;
    pthread_mutex_lock(&hung->lock);
    hung->over = true;
    running = hung->running;
    pthread_cond_signal(&hung->asked);
    pthread_mutex_unlock(&hung->lock);
    if (!running)
        release(hung);
}

static struct entry *home(struct hung *hung, uint32_t tid, unsigned probe)
{
    return &hung->entries[(tid * 2654435761u + probe) % CALLS_MAX];
}

static struct entry *find(struct hung *hung, uint32_t tid, uint64_t since_ns)
{
    for (unsigned i = 0; hung->entries && i < PROBES; i++) {
        struct entry *entry = home(hung, tid, i);

        if (entry->state != FREE && entry->tid == tid && entry->since_ns == since_ns)
            return entry;
    }
    return NULL;
}

/* A place for a new one: its thread's last call is over, and of others the one that began first is likeliest to be. */
static struct entry *make_place(struct hung *hung, uint32_t tid)
{
    struct entry *oldest = NULL;

    for (unsigned i = 0; i < PROBES; i++) {
        struct entry *entry = home(hung, tid, i);

        if (entry->state == FREE || (entry->tid == tid && entry->state == KNOWN))
            return entry;
        if (entry->state == KNOWN && (!oldest || entry->since_ns < oldest->since_ns))
            oldest = entry;
    }
    return oldest;
}

/* Answers one question; the lock is not held meanwhile. */
static void answer(struct hung *hung, struct entry *entry)
{
    struct entry question = *entry;
    uint64_t volume = ABI_VOLUME_UNKNOWN;

    pthread_mutex_unlock(&hung->lock);
    (void)callpath_volume((pid_t)question.tid, question.op, hung->calls, &volume); /* it stays unknown */
    pthread_mutex_lock(&hung->lock);
    entry->state = KNOWN; /* nobody replaces one that waits */
    entry->volume = volume;
    hung->waiting--;
}

static void *work(void *context)
{
    struct hung *hung = context;

    pthread_mutex_lock(&hung->lock);
    while (!hung->over) {
        if (!hung->waiting)
            pthread_cond_wait(&hung->asked, &hung->lock);
        for (unsigned i = 0; i < CALLS_MAX && hung->waiting && !hung->over; i++)
            if (hung->entries[i].state == WAITING)
                answer(hung, &hung->entries[i]);
    }
    pthread_mutex_unlock(&hung->lock);
    release(hung);
    return NULL;
}

/* Signals are for the thread that asks. */
static bool start(struct hung *hung)
{
    pthread_t thread;

    if (!hung->entries)
        hung->entries = calloc(CALLS_MAX, sizeof(*hung->entries));
    if (!hung->entries)
        return false;
    hung->running = thread_start(&thread, work, hung) == 0;
    if (hung->running)
        pthread_detach(thread);
    return hung->running;
}

void hung_ask(struct hung *hung, uint32_t tid, uint64_t since_ns, enum operation op)
{
    struct entry *entry;

    pthread_mutex_lock(&hung->lock);
    if (!find(hung, tid, since_ns) && (hung->running || start(hung))) {
        entry = make_place(hung, tid);
        if (entry) {
            *entry = (struct entry){.tid = tid, .op = (uint8_t)op, .state = WAITING, .since_ns = since_ns};
            hung->waiting++;
            pthread_cond_signal(&hung->asked);
        }
    }
    pthread_mutex_unlock(&hung->lock);
}

uint64_t hung_volume(struct hung *hung, uint32_t tid, uint64_t since_ns)
{
    uint64_t volume = ABI_VOLUME_UNKNOWN;
    const struct entry *entry;

    pthread_mutex_lock(&hung->lock);
    entry = find(hung, tid, since_ns);
    if (entry && entry->state == KNOWN)
        volume = entry->volume;
    pthread_mutex_unlock(&hung->lock);
    return volume;
}
