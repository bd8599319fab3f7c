/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/otlp.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/remote.h"

#define REQUEST_MS 10000
#define TROUBLE    400

struct otlp {
    struct otlp_options options; /* the strings are the caller's */
    struct remote *remote;       /* the thread's own */
    char trouble[TROUBLE];       /* the thread's own; "": all is well */
    int64_t again_ms;            /* the thread's own: when the receiver wants to be asked again, monotonic */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;
    char *text; /* what waits; NULL: nothing */
    size_t size;
    bool stopping;
    int64_t until_ms; /* while stopping */
};

/* Says what is wrong once, and again only when something else is. */
static void tell(struct otlp *otlp, const char *trouble)
{
    if (strcmp(trouble, otlp->trouble) == 0)
        return;
    if (*trouble)
        log_warning("otlp %s: %s; the next interval has these counts, too", otlp->options.url, trouble);
    else
        log_info("otlp %s: reached", otlp->options.url);
    snprintf(otlp->trouble, sizeof(otlp->trouble), "%s", trouble);
}

static void send_text(struct otlp *otlp, const char *text, size_t size)
{
    char token[REMOTE_TOKEN_MAX] = "", trouble[TROUBLE] = "";
    struct remote_answer answer;
    int err = otlp->options.token_file ? remote_token(otlp->options.token_file, token) : 0;

    if (err) {
        snprintf(trouble, sizeof(trouble), "token file %.200s: %s", otlp->options.token_file, log_errno(err));
        tell(otlp, trouble);
        return;
    }
    remote_post(otlp->remote, "v1/metrics", otlp->options.token_file ? token : NULL, NULL, text, size, &answer);
    explicit_bzero(token, sizeof(token));
    if (!answer.status)
        snprintf(trouble, sizeof(trouble), "%.200s", answer.text);
    else if (answer.status < 200 || answer.status >= 300)
        snprintf(trouble, sizeof(trouble), "it answered %ld%s%.200s", answer.status, *answer.text ? ": " : "",
                 answer.text);
    if (answer.retry_after_s)
        otlp->again_ms = monotonic_ms() + answer.retry_after_s * 1000ll;
    tell(otlp, trouble);
}

static bool may_go_on(void *context)
{
    struct otlp *otlp = context;
    bool may;

    pthread_mutex_lock(&otlp->lock);
    may = !otlp->stopping || monotonic_ms() < otlp->until_ms;
    pthread_mutex_unlock(&otlp->lock);
    return may;
}

static void *work(void *context)
{
    struct otlp *otlp = context;

    pthread_mutex_lock(&otlp->lock);
    while (!otlp->stopping || otlp->text) {
        _cleanup_free_ char *text = otlp->text;
        size_t size = otlp->size;

        otlp->text = NULL;
        if (!text) {
            pthread_cond_wait(&otlp->wake, &otlp->lock);
            continue;
        }
        pthread_mutex_unlock(&otlp->lock);
        if (monotonic_ms() >= otlp->again_ms)
            send_text(otlp, text, size);
        pthread_mutex_lock(&otlp->lock);
    }
    pthread_mutex_unlock(&otlp->lock);
    return NULL;
}

static void clear(struct otlp *otlp)
{
    remote_free(otlp->remote);
    pthread_cond_destroy(&otlp->wake);
    pthread_mutex_destroy(&otlp->lock);
    free(otlp->text);
    free(otlp);
}

int otlp_start(const struct otlp_options *options, struct otlp **out)
{
    struct otlp *otlp = calloc(1, sizeof(*otlp));
    const struct remote_options remote = {
        .url = options->url,
        .ca_file = options->ca_file,
        .cert = options->cert,
        .key = options->key,
        .name = "unblend-agent",
        .timeout_ms = REQUEST_MS,
        .may_go_on = may_go_on,
        .context = otlp,
    };
    int err;

    if (!otlp)
        return -ENOMEM;
    otlp->options = *options;
    strcpy(otlp->trouble, "not tried yet");
    pthread_mutex_init(&otlp->lock, NULL);
    pthread_cond_init(&otlp->wake, NULL);
    err = remote_new(&remote, &otlp->remote);
    if (!err)
        err = -pthread_create(&otlp->thread, NULL, work, otlp);
    if (err) {
        log_error("otlp %s: %s", options->url, log_errno(err));
        clear(otlp);
        return err;
    }
    *out = otlp;
    return 0;
}

void otlp_put(struct otlp *otlp, char *text, size_t size)
{
    pthread_mutex_lock(&otlp->lock);
    free(otlp->text);
    otlp->text = text;
    otlp->size = size;
    pthread_cond_signal(&otlp->wake);
    pthread_mutex_unlock(&otlp->lock);
}

void otlp_stop(struct otlp *otlp, unsigned timeout_ms)
{
    if (!otlp)
        return;
    pthread_mutex_lock(&otlp->lock);
    otlp->stopping = true;
    otlp->until_ms = monotonic_ms() + timeout_ms;
    pthread_cond_signal(&otlp->wake);
    pthread_mutex_unlock(&otlp->lock);
    pthread_join(otlp->thread, NULL);
    clear(otlp);
}
