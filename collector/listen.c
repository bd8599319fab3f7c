/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/listen.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/metrics.h"
#include "collector/request.h"
#include "lib/clock.h"
#include "lib/log.h"

#define CONNECTIONS_MAX 4096u
#define IDLE_S          30u         /* a connection on which nothing moves is closed */
#define BODY_S          300         /* for a whole body, however it trickles */
#define DRAIN_MAX       (64u << 20) /* bytes of a refused body that are read politely */
#define HEADERS_MAX     (32u << 10)
#define FINISH_S        10 /* for requests under way when the collector ends */
#define TLS_PRIORITIES  "SECURE128:-VERS-TLS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct listener {
    struct MHD_Daemon *daemon;
    struct pool *pool;
    atomic_uint active; /* requests */
};

static time_t now(void)
{
    return (time_t)(monotonic_ns() / 1000000000);
}

static const char *header(struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static void refuse(struct request *request, unsigned status, const char *why)
{
    request->answer = (struct answer){.status = status};
    snprintf(request->answer.why, sizeof(request->answer.why), "%s", why);
}

/* Hands the request to the pool; its connection sleeps until then. */
static enum MHD_Result ask(struct request *request, enum request_state state,
                           void (*run)(struct task *, struct store *))
{
    request->state = state;
    request->task.run = run;
    MHD_suspend_connection(request->connection);
    if (!pool_push(request->listener->pool, &request->task)) {
        refuse(request, 503, "the collector is overloaded: send it again later");
        MHD_resume_connection(request->connection);
    }
    return MHD_YES;
}

static void note_database(int err)
{
    atomic_store(&metrics.database_up, err != -EAGAIN && err != -ENOENT);
}

static void run_ready(struct task *task, struct store *store)
{
    struct request *request = (struct request *)task;
    int err = store_check(store);

    note_database(err);
    if (err)
        refuse(request, 503, "the database is away");
    else
        request->answer.status = 200;
    MHD_resume_connection(request->connection);
}

static void run_identify(struct task *task, struct store *store)
{
    struct request *request = (struct request *)task;
    int err = store_identify(store, request->token, &request->who);

    note_database(err);
    if (err == -EACCES)
        refuse(request, 401, "the token is not known: enroll the node");
    else if (err)
        ingest_refuse(store, err, &request->answer);
    MHD_resume_connection(request->connection);
}

static void run_store(struct task *task, struct store *store)
{
    struct request *request = (struct request *)task;

    ingest(store, &request->who, request->encoding, request->body, request->size, &request->answer);
    MHD_resume_connection(request->connection);
}

/*
 * An answer in front of a body that is still coming would be lost when the client, not having read
 * it, is cut off: so the body is read and thrown away first, unless the client waits to be asked
 * for it.
 */
static enum MHD_Result answer_early(struct request *request)
{
    const char *length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    bool comes = header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
                 (length && strtoull(length, NULL, 10) > 0);

    if (!comes || header(request, MHD_HTTP_HEADER_EXPECT) ||
        (length && strtoull(length, NULL, 10) > DRAIN_MAX))
        return request_answer(request);
    request->state = REQUEST_DRAINING;
    return MHD_YES;
}

static enum MHD_Result start_post(struct request *request)
{
    request->is_post = true;
    if (encoding_by_name(header(request, MHD_HTTP_HEADER_CONTENT_ENCODING), &request->encoding)) {
        refuse(request, 415, "Content-Encoding must be zstd, gzip or none");
        return answer_early(request);
    }
    if (token_hash(header(request, MHD_HTTP_HEADER_AUTHORIZATION), request->token)) {
        refuse(request, 401, "a token is needed: Authorization: Bearer TOKEN");
        return answer_early(request);
    }
    return ask(request, REQUEST_ASKED, run_identify);
}

static enum MHD_Result send_metrics(struct request *request)
{
    char *text;
    size_t size;

    if (metrics_text(&text, &size))
        return MHD_NO;
    return request_text(request->connection, 200,
                        "application/openmetrics-text; version=1.0.0; charset=utf-8", text, size);
}

static enum MHD_Result start_request(struct request *request, const char *url, const char *method)
{
    bool get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;

    if (strcmp(url, "/v1/batches") == 0) {
        if (strcmp(method, "POST") == 0)
            return start_post(request);
        refuse(request, 405, "batches are sent by POST");
    } else if (strcmp(url, "/healthz") != 0 && strcmp(url, "/readyz") != 0 &&
               strcmp(url, "/metrics") != 0) {
        refuse(request, 404, "there is nothing here: see unblend-collector(8)");
    } else if (!get) {
        refuse(request, 405, "this is read by GET");
    } else if (strcmp(url, "/metrics") == 0) {
        return send_metrics(request);
    } else if (strcmp(url, "/readyz") == 0) {
        return ask(request, REQUEST_ASKED, run_ready);
    } else {
        return request_text(request->connection, 200, "text/plain", strdup("ok\n"), 3);
    }
    return answer_early(request);
}

/* Awake again at the headers: the pool has said who it is. */
static enum MHD_Result go_on(struct request *request)
{
    const char *length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);

    if (!request->answer.status && length && strtoull(length, NULL, 10) > BODY_MAX)
        refuse(request, 413, "the body is larger than 16 MiB: send fewer batches at once");
    if (request->answer.status == 200) /* only asked whether the database is there */
        return request_text(request->connection, 200, "text/plain", strdup("ok\n"), 3);
    if (request->answer.status)
        return answer_early(request);
    request->state = REQUEST_READING;
    return MHD_YES;
}

static enum MHD_Result take_body(struct request *request, const char *data, size_t *size)
{
    request->received += *size;
    atomic_fetch_add(&metrics.bytes, *size);
    if (request->state == REQUEST_READING)
        request_take(request, data, *size);
    *size = 0;
    return request->received > DRAIN_MAX || now() - request->started > BODY_S ? MHD_NO : MHD_YES;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **slot)
{
    struct listener *listener = context;
    struct request *request = *slot;

    if (!request) {
        request = calloc(1, sizeof(*request));
        if (!request)
            return MHD_NO;
        request->connection = connection;
        request->listener = listener;
        request->started = now();
        atomic_fetch_add(&listener->active, 1);
        *slot = request;
        return start_request(request, url, method);
    }
    if (*size)
        return take_body(request, data, size);
    switch (request->state) {
    case REQUEST_ASKED:
        return go_on(request);
    case REQUEST_READING:
        return ask(request, REQUEST_STORING, run_store);
    default:
        return request_answer(request);
    }
}

static void completed(void *context, struct MHD_Connection *connection, void **slot,
                      enum MHD_RequestTerminationCode code)
{
    struct listener *listener = context;

    if (!*slot)
        return;
    request_free(*slot);
    *slot = NULL;
    atomic_fetch_sub(&listener->active, 1);
}

/* What goes wrong on single connections is the clients' business; at the start it is ours. */
static void log_library(void *context, const char *format, va_list args)
{
    char text[256];

    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    log_debug("http: %s", text);
}

/* Every connection is a descriptor. */
static void allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int listen_start(int fd, const char *certificate, const char *key, struct pool *pool,
                 struct listener **out)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     (certificate ? MHD_USE_TLS : 0);
    struct listener *listener = calloc(1, sizeof(*listener));
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };

    if (!listener) {
        close(fd);
        return -ENOMEM;
    }
    allow_descriptors();
    listener->pool = pool;
    listener->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, handle, listener, MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADERS_MAX, MHD_OPTION_NOTIFY_COMPLETED, completed, listener, MHD_OPTION_ARRAY,
        certificate ? tls : tls + 3, MHD_OPTION_END);
    if (!listener->daemon) {
        log_error("cannot serve HTTP: %s",
                  certificate ? "check --tls-cert and --tls-key, they must be PEM and match"
                              : "libmicrohttpd does not start here");
        close(fd);
        free(listener);
        return -EINVAL;
    }
    *out = listener;
    return 0;
}

void listen_stop(struct listener *listener)
{
    const struct timespec tick = {.tv_nsec = 20000000};
    time_t deadline = now() + FINISH_S;
    MHD_socket fd;

    if (!listener)
        return;
    fd = MHD_quiesce_daemon(listener->daemon);
    while (atomic_load(&listener->active) && now() < deadline)
        nanosleep(&tick, NULL);
    pool_stop(listener->pool); /* wakes the last connection: no suspended one may be left */
    MHD_stop_daemon(listener->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    free(listener);
}
