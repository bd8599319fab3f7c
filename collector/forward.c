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
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/remote.h"

#define ROWS             64         /* in one request */
#define BODY_SIZE_MAX    (8u << 20) /* of one request, unless one batch is larger */
#define IDLE_MS          250
#define BACKOFF_FIRST_MS 500
#define BACKOFF_LAST_MS  60000
#define PUT_OFF_FIRST_MS 1000       /* until what the other side could not take is tried again */
#define PUT_OFF_LAST_MS  600000
#define PUT_OFF_MAX      3          /* batches in a row; then it is no single batch's fault */

struct forward {
    const struct forward_options *options;
    struct store *store;
    struct remote *remote;
    pthread_t thread;
    atomic_bool ending;
    unsigned backoff_ms;
    unsigned singly;   /* so many rows: a body of them was refused, and which it is they show one by one */
    int64_t after;     /* the row that was put off last: those behind it go first; 0: none */
    int64_t again_ms;  /* monotonic: from when on it is tried again, and those before it */
    unsigned apart_ms; /* between such times; grows until nothing waits */
    unsigned put_off;  /* in a row */
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

/* The other side cannot take just this row now. */
static unsigned put_off(struct forward *forward, const struct outbox_row *row)
{
    store_rollback(forward->store);
    if (!forward->after) {
        forward->apart_ms = forward->apart_ms ? forward->apart_ms * 2 : PUT_OFF_FIRST_MS;
        if (forward->apart_ms > PUT_OFF_LAST_MS)
            forward->apart_ms = PUT_OFF_LAST_MS;
        forward->again_ms = monotonic_ms() + forward->apart_ms;
    }
    forward->after = row->id;
    forward->singly -= forward->singly > 0;
    return ++forward->put_off < PUT_OFF_MAX ? 0 : back_off(forward, 0);
}

/* Whether such an answer to many may be for one of them. */
static bool may_be_of_one(long status)
{
    return status == 400 || status == 409 || status == 413 || status == 500;
}

/* What becomes of rows after an answer; how long to wait. */
static unsigned settle(struct forward *forward, const struct outbox_row *rows, unsigned count,
                       const struct remote_answer *answer)
{
    char word[300];
    int err;

    word_of(answer, word, sizeof(word));
    if (count > 1 && may_be_of_one(answer->status)) {
        store_rollback(forward->store);
        forward->singly = count;
        return 0;
    }
    switch (answer->status) {
    case 200:
        err = store_outbox_settle(forward->store, rows, count, NULL);
        say(forward, "");
        break;
    case 400:
    case 409:
    case 413:
        log_error("a batch was refused by %.100s and stays in unblend.outbox: %s", forward->options->url, word);
        err = store_outbox_settle(forward->store, rows, count, word);
        break;
    case 500:
        say(forward, word);
        return put_off(forward, rows);
    default:
        store_rollback(forward->store);
        say(forward, word);
        return back_off(forward, answer->retry_after_s);
    }
    forward->singly -= forward->singly < count ? forward->singly : count;
    forward->backoff_ms = forward->put_off = 0;
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
    int err;

    if (forward->after && monotonic_ms() >= forward->again_ms)
        forward->after = 0;
    err = store_outbox_take(forward->store, forward->after, rows, forward->singly ? 1 : ROWS, &count);
    if (err)
        return back_off(forward, 0); /* that the database is away is said elsewhere */
    if (!count) {
        store_rollback(forward->store);
        if (!forward->after)
            forward->apart_ms = 0;
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
