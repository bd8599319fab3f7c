/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/push.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "agent/push_private.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/thread.h"

#define REQUEST_MS    30000
#define SPREAD_MAX_MS 5000

/* Waits for so long; 0: without an end. heed_new: new batches end it, as what is urgent always does. True when
   something was urgent. */
static bool rest(struct push *push, unsigned ms, bool heed_new)
{
    struct timespec until;
    bool urgent;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_mutex_lock(&push->lock);
    while (!push->urgent && !push->stopping && !(heed_new && push->woken))
        if (!ms)
            pthread_cond_wait(&push->wake, &push->lock);
        else if (pthread_cond_timedwait(&push->wake, &push->lock, &until) == ETIMEDOUT)
            break;
    urgent = push->urgent;
    push->woken = push->urgent = false;
    pthread_mutex_unlock(&push->lock);
    return urgent;
}

static bool is_stopping(struct push *push)
{
    bool stopping;

    pthread_mutex_lock(&push->lock);
    stopping = push->stopping;
    pthread_mutex_unlock(&push->lock);
    return stopping;
}

/* All is sent. The intervals of all nodes end at the same moment: so each waits for a time of its own after it. */
static void idle(struct push *push, unsigned wait_ms)
{
    push->singly = 0;
    if (!rest(push, wait_ms, true) && push->spread_ms && spool_pending(push->spool) == 1)
        rest(push, push->spread_ms, false);
}

/* Asked about once a second during a post: a stop does not wait for an answer that may never come. */
static bool may_go_on(void *context)
{
    return !is_stopping(context);
}

static void *run(void *argument)
{
    struct push *push = argument;

    while (!is_stopping(push)) {
        _cleanup_(body_clear) struct body body = {0};
        struct remote_answer answer;
        unsigned wait_ms = 0;
        int found = body_gather(push->spool, push->singly ? 1 : BODY_BATCHES, &body, &wait_ms);

        if (found == 0) {
            idle(push, wait_ms);
            continue;
        }
        if (found < 0) {
            log_warning("spool: %s", log_errno(found));
            wait_ms = backoff_next(&push->backoff);
        } else {
            push_post(push, &body, &answer);
            wait_ms = push_settle(push, &body, &answer);
        }
        if (wait_ms)
            rest(push, wait_ms, false);
    }
    return NULL;
}

static int prepare(struct push *push)
{
    const struct push_options *o = &push->options;
    const struct remote_options remote = {
        .url = o->url,
        .ca_file = o->ca_file,
        .cert = o->cert,
        .key = o->key,
        .name = "unblend-agent",
        .timeout_ms = REQUEST_MS,
        .may_go_on = may_go_on,
        .context = push,
    };
    char token[REMOTE_TOKEN_MAX];
    int err;

    err = remote_token(o->token_file, token);
    explicit_bzero(token, sizeof(token));
    if (err && !(err == -ENOENT && o->join_file)) { /* the thread will join */
        log_error("token file %s: %s: `unblend-collector enroll NODE` prints a token", o->token_file, log_errno(err));
        return err;
    }
    return remote_new(&remote, &push->remote);
}

static void push_free(struct push *push)
{
    remote_free(push->remote);
    if (push->event >= 0)
        close(push->event);
    pthread_cond_destroy(&push->wake);
    pthread_mutex_destroy(&push->lock);
    free(push);
}

int push_start(const struct push_options *options, struct spool *spool, struct push **out)
{
    struct push *push = calloc(1, sizeof(*push));
    int err;

    if (!push)
        return -ENOMEM;
    thread_condition(&push->wake);
    pthread_mutex_init(&push->lock, NULL);
    push->spool = spool;
    push->options = *options;
    push->spread_ms =
        backoff_random(options->interval_ms / 2 < SPREAD_MAX_MS ? options->interval_ms / 2 : SPREAD_MAX_MS);
    push->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    err = push->event < 0 ? -errno : prepare(push);
    if (!err)
        err = thread_start(&push->thread, run, push);
    if (err) {
        push_free(push);
        return err;
    }
    *out = push;
    return 0;
}

void push_wake(struct push *push, bool urgent)
{
    pthread_mutex_lock(&push->lock);
    push->woken = true;
    push->urgent |= urgent;
    pthread_cond_signal(&push->wake);
    pthread_mutex_unlock(&push->lock);
}

void push_reconnect(struct push *push)
{
    pthread_mutex_lock(&push->lock);
    push->reconnect = true;
    pthread_mutex_unlock(&push->lock);
    push_wake(push, true);
}

int push_event_fd(const struct push *push)
{
    return push->event;
}

void push_status(struct push *push, char *text, size_t size)
{
    pthread_mutex_lock(&push->lock);
    snprintf(text, size, "%s", push->status);
    pthread_mutex_unlock(&push->lock);
}

void push_stop(struct push *push, unsigned timeout_ms)
{
    if (!push)
        return;
    push_wake(push, true);
    for (unsigned waited = 0; waited < timeout_ms && spool_pending(push->spool); waited += 20)
        usleep(20000);
    pthread_mutex_lock(&push->lock);
    push->stopping = true;
    pthread_cond_signal(&push->wake);
    pthread_mutex_unlock(&push->lock);
    pthread_join(push->thread, NULL);
    push_free(push);
}
