/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One attempt: the token, bought with the join token where there is none; the request; what the answer means for the
   batches that were sent; and how long to wait before the next attempt. */
#include "agent/push_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/join.h"
#include "lib/log.h"

#define PUT_OFF_MAX 3 /* batches in a row; then it is no single batch's fault */

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

void push_post(struct push *push, const struct body *body, struct remote_answer *answer)
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

/* A collector knows the path, so who answers that there is no such thing is something else. */
static void explain(const struct push *push, const struct remote_answer *answer, char *reason, size_t size)
{
    snprintf(reason, size, "collector %.60s: HTTP %ld: %.250s", push->options.url, answer->status,
             answer->status == 404 ? "no collector answers there: check --collector" : answer->text);
}

unsigned push_settle(struct push *push, const struct body *body, const struct remote_answer *answer)
{
    char reason[sizeof(push->status)];
    uint64_t place = body->places[0];
    long code = answer->status;
    int err = 0;

    explain(push, answer, reason, sizeof(reason));
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
