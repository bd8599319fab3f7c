/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/forward.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "collector/store.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/remote.h"

#define ROWS             64         /* in one request */
#define BODY_SIZE_MAX    (8u << 20) /* of one request, unless one batch is larger */
#define IDLE_MS          250
#define BACKOFF_FIRST_MS 500
#define BACKOFF_LAST_MS  60000

struct forward {
    const struct forward_options *options;
    struct store *store;
    struct remote *remote;
    pthread_t thread;
    atomic_bool ending;
    unsigned backoff_ms;
    bool singly;       /* a body of many was refused: find out which */
    char status[300];  /* what was said last */
};

static bool may_go_on(void *context)
{
    struct forward *forward = context;

    return !atomic_load(&forward->ending);
}

/* Says what is wrong once, and again only when something else is. */
static void say(struct forward *forward, const char *status)
{
    if (strcmp(forward->status, status) == 0)
        return;
    snprintf(forward->status, sizeof(forward->status), "%s", status);
    if (*status)
        log_warning("cannot forward to %.100s: %s; batches wait in the database", forward->options->url, status);
    else
        log_info("forwarding to %.100s", forward->options->url);
}

static unsigned back_off(struct forward *forward, unsigned asked_s)
{
    unsigned random = 0;

    forward->backoff_ms = forward->backoff_ms ? forward->backoff_ms * 2 : BACKOFF_FIRST_MS;
    if (forward->backoff_ms > BACKOFF_LAST_MS)
        forward->backoff_ms = BACKOFF_LAST_MS;
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
        random = (unsigned)time(NULL);
    return asked_s * 1000 + forward->backoff_ms / 2 + random % (forward->backoff_ms / 2 + 1);
}

/* What the other side says, in words. */
static void word_of(const struct remote_answer *answer, char *text, size_t size)
{
    if (answer->status)
        snprintf(text, size, "HTTP %ld: %.200s", answer->status,
                 answer->status == 404 ? "no collector answers there: check --forward" : answer->text);
    else
        snprintf(text, size, "%.200s", answer->text);
}

/* What becomes of rows after an answer; how long to wait. */
static unsigned settle(struct forward *forward, const struct outbox_row *rows, unsigned count,
                       const struct remote_answer *answer)
{
    char word[300];
    int err;

    word_of(answer, word, sizeof(word));
    switch (answer->status) {
    case 200:
        err = store_outbox_settle(forward->store, rows, count, NULL);
        say(forward, "");
        break;
    case 400:
    case 409:
    case 413:
        if (count > 1) {
            store_rollback(forward->store);
            forward->singly = true;
            return 0;
        }
        log_error("a batch was refused by %.100s and stays in unblend.outbox: %s", forward->options->url, word);
        err = store_outbox_settle(forward->store, rows, count, word);
        break;
    default:
        store_rollback(forward->store);
        say(forward, word);
        return back_off(forward, answer->retry_after_s);
    }
    forward->singly = false;
    forward->backoff_ms = 0;
    return err ? back_off(forward, 0) : 0;
}

/* Frames of zstd behind each other are one body: each row ends with a newline. */
static unsigned join(const struct outbox_row *rows, unsigned count, char **body, size_t *size)
{
    unsigned used = 1;

    *size = rows[0].size;
    while (used < count && *size + rows[used].size <= BODY_SIZE_MAX)
        *size += rows[used++].size;
    *body = malloc(*size);
    for (size_t i = 0, at = 0; *body && i < used; at += rows[i++].size)
        memcpy(*body + at, rows[i].body, rows[i].size);
    return used;
}

static unsigned send_rows(struct forward *forward, const struct outbox_row *rows, unsigned count)
{
    _cleanup_free_ char *body = NULL;
    struct remote_answer answer = {.status = 0};
    char token[REMOTE_TOKEN_MAX];
    size_t size;
    unsigned used = join(rows, count, &body, &size);
    int err = body ? remote_token(forward->options->token_file, token) : -ENOMEM;

    if (err)
        snprintf(answer.text, sizeof(answer.text), "token file %.200s: %s", forward->options->token_file,
                 log_errno(err));
    else
        remote_post(forward->remote, "v1/batches", token, "zstd", body, size, &answer);
    explicit_bzero(token, sizeof(token));
    return settle(forward, rows, used, &answer);
}

/* One request; how many milliseconds to wait until the next. */
static unsigned step(struct forward *forward)
{
    struct outbox_row rows[ROWS];
    unsigned count, wait_ms;
    int err = store_outbox_take(forward->store, rows, forward->singly ? 1 : ROWS, &count);

    if (err)
        return back_off(forward, 0); /* that the database is away is said elsewhere */
    if (!count) {
        store_rollback(forward->store);
        return IDLE_MS;
    }
    wait_ms = send_rows(forward, rows, count);
    outbox_rows_clear(rows, count);
    return wait_ms;
}

static void *run(void *context)
{
    const struct timespec tick = {.tv_nsec = 50000000};
    struct forward *forward = context;

    while (may_go_on(forward)) {
        unsigned wait_ms = step(forward);

        for (unsigned waited = 0; waited < wait_ms && may_go_on(forward); waited += 50)
            nanosleep(&tick, NULL);
    }
    return NULL;
}

static void forward_free(struct forward *forward)
{
    remote_free(forward->remote);
    store_free(forward->store);
    free(forward);
}

int forward_start(const struct forward_options *options, const char *conninfo, struct forward **out)
{
    struct forward *forward;
    const struct remote_options remote = {
        .url = options->url,
        .ca_file = options->ca_file,
        .proxy = options->proxy,
        .name = "unblend-collector",
        .may_go_on = may_go_on,
    };
    struct remote_options mine = remote;
    int err;

    forward = calloc(1, sizeof(*forward));
    if (!forward)
        return -ENOMEM;
    forward->options = options;
    mine.context = forward;
    err = store_new(conninfo, &forward->store);
    if (!err)
        err = remote_new(&mine, &forward->remote);
    if (!err)
        err = -pthread_create(&forward->thread, NULL, run, forward);
    if (err)
        forward_free(forward);
    else
        *out = forward;
    return err;
}

void forward_stop(struct forward *forward)
{
    if (!forward)
        return;
    atomic_store(&forward->ending, true);
    pthread_join(forward->thread, NULL);
    forward_free(forward);
}
