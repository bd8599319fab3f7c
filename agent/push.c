/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/push.h"

#include <curl/curl.h>
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

#define REQUEST_MS       30000
#define ANSWER_MAX       300 /* characters of the collector's answer that are worth showing */
#define PUT_OFF_MAX      3   /* batches in a row; then it is no single batch's fault */
#define SPREAD_MAX_MS    5000

struct push {
    struct spool *spool;
    char *url; /* with the path */
    char *token_file, *ca_file;
    struct remote *join; /* NULL without a join token */
    const char *join_file, *node, *cluster;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;
    bool woken, urgent, stopping, reconnect;
    char status[400];
    int event;
    CURL *curl; /* the thread's own */
    char answer[ANSWER_MAX + 1];
    struct backoff backoff;
    unsigned spread_ms;  /* from a batch being made until it is sent */
    unsigned singly;     /* so many batches go one by one, for a body of many was refused */
    unsigned put_off;    /* in a row */
};

static size_t keep_answer(char *data, size_t one, size_t size, void *context)
{
    char *answer = context;
    size_t length = strlen(answer);
    size_t room = ANSWER_MAX - length;

    memcpy(answer + length, data, size < room ? size : room);
    answer[length + (size < room ? size : room)] = '\0';
    return one * size;
}

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
        log_info("collector %s: reached", push->url);
}

/* "Authorization: Bearer ..." into header. 0 or -errno. The file is read anew, so a token can be replaced. */
static int read_token(const struct push *push, char *header, size_t size)
{
    _cleanup_fclose_ FILE *file = fopen(push->token_file, "re");
    char token[512] = "";

    if (!file)
        return -errno;
    if (!fgets(token, sizeof(token), file))
        return -ENODATA;
    token[strcspn(token, " \t\r\n")] = '\0';
    snprintf(header, size, "Authorization: Bearer %s", token);
    explicit_bzero(token, sizeof(token));
    return 0;
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

/* Posts a body. The HTTP status, or 0 with the reason in the status line when there was no answer. */
static long post(struct push *push, const void *payload, size_t size)
{
    struct curl_slist *headers = NULL;
    char token[600], sent[64], reason[300];
    long code = 0;
    CURLcode result;
    int err = read_token(push, token, sizeof(token));

    if (err == -ENOENT && push->join) {
        err = join_enroll(push->join, push->join_file, push->token_file, push->node, push->cluster, reason,
                          sizeof(reason));
        if (err) {
            set_status(push, reason);
            return 0;
        }
        log_info("this node has joined: its token is in %s", push->token_file);
        err = read_token(push, token, sizeof(token));
    }
    if (err) {
        snprintf(reason, sizeof(reason), "token file %.200s: %s", push->token_file, log_errno(err));
        set_status(push, reason);
        return 0;
    }
    snprintf(sent, sizeof(sent), "Unblend-Sent-Ns: %" PRId64, wall_clock_ns());
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Content-Encoding: zstd");
    headers = curl_slist_append(headers, "Expect:");
    headers = curl_slist_append(headers, sent);
    headers = curl_slist_append(headers, token);
    explicit_bzero(token, sizeof(token));
    push->answer[0] = '\0';
    curl_easy_setopt(push->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(push->curl, CURLOPT_POSTFIELDS, payload);
    curl_easy_setopt(push->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    curl_easy_setopt(push->curl, CURLOPT_FRESH_CONNECT, takes_new_connection(push) ? 1L : 0L);
    result = curl_easy_perform(push->curl);
    curl_slist_free_all(headers);
    if (result == CURLE_OK) {
        curl_easy_getinfo(push->curl, CURLINFO_RESPONSE_CODE, &code);
        return code;
    }
    snprintf(reason, sizeof(reason), "collector %.200s: %s; spooling until it is back", push->url,
             curl_easy_strerror(result));
    set_status(push, reason);
    return 0;
}

static void signal_event(const struct push *push)
{
    const uint64_t one = 1;

    if (write(push->event, &one, sizeof(one)) < 0)
        return; /* full: whoever reads it will look anyway */
}

static unsigned retry_after(struct push *push)
{
    curl_off_t seconds = 0;

    curl_easy_getinfo(push->curl, CURLINFO_RETRY_AFTER, &seconds);
    return backoff_asked(&push->backoff, seconds > 0 && seconds < 3600 ? (unsigned)seconds * 1000 : 0);
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
static unsigned settle(struct push *push, const struct body *body, long code)
{
    char reason[sizeof(push->status)];
    uint64_t place = body->places[0];
    int err = 0;

    push->answer[strcspn(push->answer, "\r\n")] = '\0';
    snprintf(reason, sizeof(reason), "collector %.60s: HTTP %ld: %.250s", push->url, code, push->answer);
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
        log_warning("the collector knows another batch under the number of batch %" PRIu64 ": taking a new stream", place);
        err = spool_restream(push->spool, place);
        break;
    case 429:
    case 503:
        set_status(push, reason);
        return retry_after(push);
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

/* libcurl asks about once a second: a stop does not wait for an answer that may never come. */
static int may_abort(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    return is_stopping(context);
}

/* All is sent. The intervals of all nodes end at the same moment: so each waits for a time of its own after it. */
static void idle(struct push *push, unsigned wait_ms)
{
    push->singly = 0;
    if (!rest(push, wait_ms, true) && push->spread_ms && spool_pending(push->spool) == 1)
        rest(push, push->spread_ms, false);
}

static bool may_go_on(void *context)
{
    return !is_stopping(context);
}

static void *run(void *argument)
{
    struct push *push = argument;

    while (!is_stopping(push)) {
        _cleanup_(body_clear) struct body body = {0};
        unsigned wait_ms = 0;
        int found = body_gather(push->spool, push->singly ? 1 : BODY_BATCHES, &body, &wait_ms);

        if (found == 0) {
            idle(push, wait_ms);
            continue;
        }
        if (found < 0)
            log_warning("spool: %s", log_errno(found));
        wait_ms = found < 0 ? backoff_next(&push->backoff) : settle(push, &body, post(push, body.data, body.size));
        if (wait_ms)
            rest(push, wait_ms, false);
    }
    return NULL;
}

/* What it takes to join, when there is a join token. */
static int start_join(struct push *push, const struct push_options *options)
{
    const struct remote_options remote = {
        .url = options->url,
        .ca_file = options->ca_file,
        .cert = options->cert,
        .key = options->key,
        .name = "unblend-agent",
        .may_go_on = may_go_on,
        .context = push,
    };

    if (!options->join_file)
        return 0;
    push->join_file = options->join_file;
    push->node = options->node;
    push->cluster = options->cluster;
    return remote_new(&remote, &push->join);
}

static int prepare(struct push *push, const struct push_options *options)
{
    char token[600];
    int err;

    if (!remote_is_safe(options->url)) {
        log_error("collector %s: a token goes to https:// only, or to http:// on loopback", options->url);
        return -EINVAL;
    }
    if (asprintf(&push->url, "%s%sv1/batches", options->url,
                 options->url[strlen(options->url) - 1] == '/' ? "" : "/") < 0)
        return -ENOMEM;
    push->token_file = strdup(options->token_file);
    push->ca_file = options->ca_file ? strdup(options->ca_file) : NULL;
    if (!push->token_file)
        return -ENOMEM;
    err = start_join(push, options);
    if (!err)
        err = read_token(push, token, sizeof(token));
    explicit_bzero(token, sizeof(token));
    if (err == -ENOENT && push->join)
        err = 0; /* the thread will join */
    if (err) {
        log_error("token file %s: %s: `unblend-collector enroll NODE` prints a token",
                  options->token_file, log_errno(err));
        return err;
    }
    push->curl = curl_easy_init();
    if (!push->curl)
        return -ENOMEM;
    curl_easy_setopt(push->curl, CURLOPT_URL, push->url);
    curl_easy_setopt(push->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(push->curl, CURLOPT_TIMEOUT_MS, (long)REQUEST_MS);
    curl_easy_setopt(push->curl, CURLOPT_WRITEFUNCTION, keep_answer);
    curl_easy_setopt(push->curl, CURLOPT_WRITEDATA, push->answer);
    curl_easy_setopt(push->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(push->curl, CURLOPT_USERAGENT, "unblend-agent");
    curl_easy_setopt(push->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(push->curl, CURLOPT_XFERINFOFUNCTION, may_abort);
    curl_easy_setopt(push->curl, CURLOPT_XFERINFODATA, push);
    if (push->ca_file)
        curl_easy_setopt(push->curl, CURLOPT_CAINFO, push->ca_file);
    if (options->cert)
        curl_easy_setopt(push->curl, CURLOPT_SSLCERT, options->cert);
    if (options->key)
        curl_easy_setopt(push->curl, CURLOPT_SSLKEY, options->key);
    return 0;
}

static void push_free(struct push *push)
{
    curl_easy_cleanup(push->curl);
    remote_free(push->join);
    if (push->event >= 0)
        close(push->event);
    pthread_cond_destroy(&push->wake);
    pthread_mutex_destroy(&push->lock);
    free(push->url);
    free(push->token_file);
    free(push->ca_file);
    free(push);
}

int push_start(const struct push_options *options, struct spool *spool, struct push **out)
{
    struct push *push = calloc(1, sizeof(*push));
    pthread_condattr_t monotonic;
    int err;

    if (!push)
        return -ENOMEM;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&push->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&push->lock, NULL);
    push->spool = spool;
    push->spread_ms = backoff_random(options->interval_ms / 2 < SPREAD_MAX_MS ? options->interval_ms / 2 : SPREAD_MAX_MS);
    push->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    err = push->event < 0 ? -errno : prepare(push, options);
    if (!err)
        err = -pthread_create(&push->thread, NULL, run, push);
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
