/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/identity.h"
#include "collector/listen_private.h"
#include "collector/refusal.h"
#include "collector/request.h"
#include "collector/route.h"
#include "lib/log.h"

#define CONNECTIONS_MAX 16384u
#define SPARE_FILES     256u /* descriptors that are no connections */
#define IDLE_S          30u  /* a connection on which nothing moves is closed */
#define HEADERS_MAX     (32u << 10)
#define FINISH_S        10   /* for requests under way when the collector ends */
#define NODE_BURST_S    10.0
#define FAILURES_S      20.0
#define OTHERS_S        200.0
#define TLS_PRIORITIES  "SECURE128:-VERS-TLS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

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

/*
 * What the library refuses by itself never reaches us as a request: too many headers, or what is no HTTP. It says so in
 * words of its own, which hold nothing of the client's.
 */
static void log_library(void *context, const char *format, va_list args)
{
    static const struct {
        const char *part;
        unsigned status;
        const char *why;
    } known[] = {
        {"to allocate header record", 431, "the headers are larger than 32 KiB"},
        {"to parse cookies", 431, "the headers are larger than 32 KiB"},
        {"without `Host' header", 400, "HTTP/1.1 without a Host header"},
        {"Too large value of 'Content-Length'", 413, "the Content-Length is too large"},
        {"parse `Content-Length'", 400, "the Content-Length is no number"},
    };
    char text[256];

    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    log_debug("http: %s", text);
    for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strstr(text, known[i].part)) {
            visitors_said(context);
            refusal_log("somewhere", known[i].status, "a request", "", known[i].why);
        }
}

/* Paths are compared as they come: none of ours needs escapes. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    return strlen(text);
}

/* Every connection is a descriptor. How many there can be. */
static unsigned allow_descriptors(void)
{
    struct rlimit limit = {.rlim_cur = 1024};

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= CONNECTIONS_MAX + SPARE_FILES)
        return CONNECTIONS_MAX;
    return limit.rlim_cur > 2 * SPARE_FILES ? (unsigned)limit.rlim_cur - SPARE_FILES : SPARE_FILES;
}

static void listener_free(struct listener *listener)
{
    visitors_free(listener->visitors);
    limit_free(listener->nodes);
    limit_free(listener->failures);
    limit_free(listener->others);
    free(listener);
}

static int listener_new(const struct listen_options *options, struct pool *pool, struct pool *writers,
                        struct listener **out)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    double rate = (double)options->node_rate;
    int err;

    if (!listener)
        return -ENOMEM;
    listener->pool = pool;
    listener->writers = writers;
    listener->is_tls = options->is_tls;
    listener->wants_certificates = options->client_ca;
    err = visitors_new(listener->is_tls, &listener->visitors);
    if (!err)
        err = limit_new(rate, rate * NODE_BURST_S, &listener->nodes);
    if (!err)
        err = limit_new(FAILURES_S, FAILURES_S * 10, &listener->failures);
    if (!err)
        err = limit_new(OTHERS_S, OTHERS_S * 10, &listener->others);
    if (err)
        listener_free(listener);
    else
        *out = listener;
    return err;
}

static struct MHD_Daemon *start_daemon(const struct listen_options *options, struct listener *listener)
{
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
                           MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (options->is_tls ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[4] = {{MHD_OPTION_END, 0, NULL}};
    unsigned n = 0;

    if (options->is_tls) {
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)identity_show};
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES};
        if (options->client_ca)
            tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, (void *)(uintptr_t)options->client_ca};
        tls[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    }
    return MHD_start_daemon(
        flags, 0, NULL, NULL, route_request, listener, MHD_OPTION_EXTERNAL_LOGGER, log_library,
        listener->visitors, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
        MHD_OPTION_NOTIFY_COMPLETED, completed, listener, MHD_OPTION_NOTIFY_CONNECTION, visitors_notify,
        listener->visitors, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

int listen_start(int fd, const struct listen_options *options, struct pool *pool, struct pool *writers,
                 struct listener **out)
{
    struct listener *listener = NULL;
    int err = listener_new(options, pool, writers, &listener);

    if (err) {
        close(fd);
        return err;
    }
    listener->daemon = start_daemon(options, listener);
    if (!listener->daemon) {
        log_error("cannot serve HTTP: %s",
                  options->client_ca ? "check --tls-client-ca, it must be PEM"
                                     : "libmicrohttpd does not start here");
        close(fd);
        listener_free(listener);
        return -EINVAL;
    }
    err = door_open(fd, listener->daemon, listener->visitors, allow_descriptors(), &listener->door);
    if (err) {
        log_error("cannot serve HTTP: %s", log_errno(err));
        MHD_stop_daemon(listener->daemon);
        listener_free(listener);
        return err;
    }
    *out = listener;
    return 0;
}

void listen_ready(struct listener *listener)
{
    atomic_store(&listener->ready, true);
}

void listen_stop(struct listener *listener)
{
    const struct timespec tick = {.tv_nsec = 20000000};
    time_t deadline = listen_now() + FINISH_S;

    if (!listener)
        return;
    door_close(listener->door);
    while (atomic_load(&listener->active) && listen_now() < deadline)
        nanosleep(&tick, NULL);
    pool_stop(listener->pool); /* wakes the last connections: no suspended one may be left */
    pool_stop(listener->writers);
    MHD_stop_daemon(listener->daemon);
    listener_free(listener);
}
