/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/push.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "agent/backoff.h"
#include "agent/body.h"
#include "agent/join.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/remote.h"
#include "lib/thread.h"

#define REQUEST_MS       30000
#define PUT_OFF_MAX      3   /* batches in a row; then it is no single batch's fault */
#define SPREAD_MAX_MS    5000

struct push {
    struct spool *spool;
    struct push_options options; /* the strings are the caller's */
    struct remote *remote;       /* the thread's own */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;
    bool woken, urgent, stopping, reconnect;
    char status[400];
    int event;
    struct backoff backoff;
    unsigned spread_ms;  /* from a batch being made until it is sent */
    unsigned singly;     /* so many batches go one by one, for a body of many was refused */
    unsigned put_off;    /* in a row */
};

/* True when it says something else than before. */
static bool quietly_set_status(struct push *push, const char *status)
{
    bool changed;

    pthread_mutex_lock(&push->lock);
    changed = strcmp(push->status, status) != 0;
    snprintf(push->status, sizeof(push->status), "%s", status);
    pthread_mutex_unlock(&push->lock);
    return changed;
}

/* Says what is wrong once, and again only when something else is. */
static void set_status(struct push *push, const char *status)
{
    if (!quietly_set_status(push, status))
        return;
    if (*status)
        log_warning("%s", status);
    else
        log_info("collector %s: reached", push->options.url);
}

/* The node's token: read anew, so that it can be replaced, or bought with the join token. 0, or -errno with the
   reason. */
static int get_token(struct push *push, char token[REMOTE_TOKEN_MAX], char *reason, size_t size)
{
    const struct push_options *o = &push->options;
    int err = remote_token(o->token_file, token);

    if (err == -ENOENT && o->join_file) {
        err = join_enroll(push->remote, o->join_file, o->token_file, o->node, o->cluster, reason, size);
        if (err)
            return err;
        log_info("this node has joined: its token is in %s", o->token_file);
        err = remote_token(o->token_file, token);
    }
    if (err)
        snprintf(reason, size, "token file %.200s: %s", o->token_file, log_errno(err));
    return err;
}

/* Once after push_reconnect(). */
static bool takes_new_connection(struct push *push)
{
    bool reconnect;

    pthread_mutex_lock(&push->lock);
    reconnect = push->reconnect;
    push->reconnect = false;
    pthread_mutex_unlock(&push->lock);
    return reconnect;
}

/* Posts a body; without an answer the status line has the reason. */
static void post(struct push *push, const struct body *body, struct remote_answer *answer)
{
    char token[REMOTE_TOKEN_MAX], reason[sizeof(push->status)];

    *answer = (struct remote_answer){.status = 0};
    if (get_token(push, token, reason, sizeof(reason))) {
        set_status(push, reason);
        return;
    }
    if (takes_new_connection(push))
        remote_reconnect(push->remote);
    remote_post(push->remote, "v1/batches", token, "zstd", body->data, body->size, answer);
    explicit_bzero(token, sizeof(token));
    if (answer->status)
        return;
    snprintf(reason, sizeof(reason), "collector %.200s: %.100s; spooling until it is back", push->options.url,
             answer->text);
    set_status(push, reason);
}

static void signal_event(const struct push *push)
{
    const uint64_t one = 1;

    if (write(push->event, &one, sizeof(one)) < 0)
        return; /* full: whoever reads it will look anyway */
}

static unsigned retry_after(struct push *push, unsigned seconds)
{
    return backoff_asked(&push->backoff, seconds < 3600 ? seconds * 1000 : 0);
}

/* It is this batch that the collector cannot take now: those behind it need not wait for it. */
static unsigned put_off(struct push *push, uint64_t place)
{
    spool_put_off(push->spool, place);
    return ++push->put_off < PUT_OFF_MAX ? 0 : backoff_next(&push->backoff);
}

/* The collector has taken all of it. */
static int acknowledge(struct push *push, const struct body *body)
{
    int err = 0;

    for (unsigned i = 0; i < body->count && !err; i++)
        err = spool_acknowledge(push->spool, body->places[i]);
    push->singly -= push->singly < body->count ? push->singly : body->count;
    return err;
}

/* Deals with the answer; how many milliseconds to wait before the next attempt. */
static unsigned settle(struct push *push, const struct body *body, const struct remote_answer *answer)
{
    char reason[sizeof(push->status)];
    uint64_t place = body->places[0];
    long code = answer->status;
    int err = 0;

    snprintf(reason, sizeof(reason), "collector %.60s: HTTP %ld: %.250s", push->options.url, code, answer->text);
    if (body->count > 1 && (code == 400 || code == 403 || code == 409 || code == 413 || code == 500)) {
        push->singly = body->count; /* one of them: which, they will show one by one */
        return 0;
    }
    switch (code) {
    case 0:
        return backoff_next(&push->backoff);
    case 200:
        err = acknowledge(push, body);
        if (!err)
            set_status(push, "");
        break;
    case 400:
    case 413:
        log_error("batch %" PRIu64 " was refused and is kept in refused/: %s", place, reason);
        quietly_set_status(push, reason);
        err = spool_refuse(push->spool, place);
        break;
    case 403:
    case 500:
        set_status(push, reason);
        return put_off(push, place);
    case 409:
        log_warning("the collector knows another batch under the number of batch %" PRIu64 ": taking a new stream",
                    place);
        err = spool_restream(push->spool, place);
        break;
    case 429:
    case 503:
        set_status(push, reason);
        return retry_after(push, answer->retry_after_s);
    default:
        set_status(push, reason);
        return backoff_next(&push->backoff);
    }
    if (err) {
        log_warning("spool: %s", log_errno(err));
        return backoff_next(&push->backoff);
    }
    push->backoff.ms = push->put_off = 0;
    signal_event(push);
    return 0;
}

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
            post(push, &body, &answer);
            wait_ms = settle(push, &body, &answer);
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

    if (!remote_is_safe(o->url)) {
        log_error("collector %s: a token goes to https:// only, or to http:// on loopback", o->url);
        return -EINVAL;
    }
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
