/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/metrics.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/log.h"

#define CONNECTIONS_MAX 16u
#define IDLE_S          10u
#define HEADERS_MAX     (size_t)(16u << 10)
#define ROUNDS_MAX      64 /* without a look at anything else */

struct metrics {
    struct MHD_Daemon *daemon;
    const struct totals *totals;
    metrics_ask *ask;
    void *context;
    int fd; /* the library's epoll descriptor */
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type, char *text,
                              size_t size, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(size, text, mode);
    enum MHD_Result result;

    if (!response) {
        if (mode == MHD_RESPMEM_MUST_FREE)
            free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
    return answer(connection, status, "text/plain", (char *)why, strlen(why), MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **request)
{
    struct metrics *metrics = context;
    struct exposition_state state = {.is_well = true};
    char *text;
    size_t size;

    if (!*request) { /* only the headers: what comes behind them is thrown away */
        *request = metrics;
        return MHD_YES;
    }
    if (*data_size) {
        *data_size = 0;
        return MHD_YES;
    }
    if (strcmp(url, "/metrics") != 0)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there is /metrics here, and nothing else\n");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET it\n");
    metrics->ask(metrics->context, &state);
    if (exposition_text(metrics->totals, &state, &text, &size))
        return MHD_NO;
    return answer(connection, MHD_HTTP_OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", text, size,
                  MHD_RESPMEM_MUST_FREE);
}

static int start(struct metrics *metrics, int socket, int events)
{
    struct epoll_event event = {.events = EPOLLIN};
    const union MHD_DaemonInfo *info;

    metrics->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, metrics, MHD_OPTION_LISTEN_SOCKET, socket,
                                       MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
                                       IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADERS_MAX, MHD_OPTION_END);
    if (!metrics->daemon) {
        close(socket);
        return -ENOMEM;
    }
    info = MHD_get_daemon_info(metrics->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info || info->epoll_fd < 0)
        return -ENOSYS;
    metrics->fd = event.data.fd = info->epoll_fd;
    return epoll_ctl(events, EPOLL_CTL_ADD, metrics->fd, &event) ? -errno : 0;
}

int metrics_new(const char *from, const char *address, int events, const struct totals *totals, metrics_ask *ask,
                void *context, struct metrics **out)
{
    struct metrics *metrics = calloc(1, sizeof(*metrics));
    char name[96];
    int socket, err;

    if (!metrics)
        return -ENOMEM;
    *metrics = (struct metrics){.totals = totals, .ask = ask, .context = context};
    err = address_listen(from, address, true, &socket);
    if (err) {
        free(metrics);
        return err;
    }
    address_name(socket, name, sizeof(name));
    err = start(metrics, socket, events);
    if (err) {
        log_error("cannot serve metrics on %s: %s", name, log_why(err));
        metrics_free(metrics);
        return err;
    }
    log_info("metrics on http://%s/metrics", name);
    *out = metrics;
    return 0;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    if (metrics->daemon)
        MHD_stop_daemon(metrics->daemon);
    free(metrics);
}

int metrics_fd(const struct metrics *metrics)
{
    return metrics->fd;
}

/* The library may have more to do at once without any event, and then says that it will not wait. */
void metrics_run(struct metrics *metrics)
{
    MHD_UNSIGNED_LONG_LONG wait = 0;

    for (unsigned i = 0; i < ROUNDS_MAX; i++) {
        if (MHD_run(metrics->daemon) != MHD_YES)
            return;
        if (MHD_get_timeout(metrics->daemon, &wait) != MHD_YES || wait)
            return;
    }
}
