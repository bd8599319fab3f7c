/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/requests.h"
#include "agent/showing.h"
#include "lib/cleanup.h"
#include "lib/local.h"
#include "lib/log.h"
#include "lib/path.h"
#include "lib/porter.h"

#define CLIENTS_MAX 64
#define RESERVED    8 /* of these, for root and the group */
#define BACKLOG     128 /* who does not wait for a place is told EAGAIN where there is none */
#define SECOND_NS   CLIENT_INTERVAL_NS

struct serve {
    struct requests *requests;
    int events, listener;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct client *clients[CLIENTS_MAX];
    unsigned count;
    struct batch *second; /* so far; NULL while samples are as long */
};

static int listen_on(struct serve *serve)
{
    struct epoll_event event = {.events = EPOLLIN};
    int err;

    path_make_parents(serve->path, 0755);
    err = porter_bind(serve->path, &serve->listener);
    if (err)
        return err;
    event.data.fd = serve->listener;
    if (listen(serve->listener, BACKLOG) || epoll_ctl(serve->events, EPOLL_CTL_ADD, serve->listener, &event))
        return -errno;
    return 0;
}

static void log_trouble(const char *path, int err)
{
    log_error("socket %s: %s", path,
              err == -EADDRINUSE ? "another agent answers there; stop it or give --socket" : log_errno(err));
}

int serve_check(const char *path)
{
    if (!local_answers(path))
        return 0;
    log_trouble(path, -EADDRINUSE);
    return -EADDRINUSE;
}

int serve_new(const char *path, struct agent *agent, int events, struct serve **out)
{
    struct serve *serve = calloc(1, sizeof(*serve));
    int err = -ENAMETOOLONG;

    if (!serve || requests_new(agent, &serve->requests)) {
        free(serve);
        return -ENOMEM;
    }
    serve->events = events;
    serve->listener = -1;
    if (strlen(path) < sizeof(serve->path)) {
        strcpy(serve->path, path);
        err = listen_on(serve);
    }
    if (err) {
        log_trouble(path, err);
        if (serve->listener >= 0)
            close(serve->listener);
        requests_free(serve->requests);
        free(serve);
        return err;
    }
    *out = serve;
    return 0;
}

static void drop_client(struct serve *serve, struct client *client)
{
    for (unsigned i = 0; i < serve->count; i++)
        if (serve->clients[i] == client)
            serve->clients[i] = serve->clients[--serve->count];
    client_free(client);
}

void serve_free(struct serve *serve)
{
    if (!serve)
        return;
    while (serve->count)
        drop_client(serve, serve->clients[0]);
    close(serve->listener);
    porter_unlink(serve->path);
    requests_free(serve->requests);
    batch_free(serve->second);
    free(serve);
}

static void accept_client(struct serve *serve)
{
    int fd = accept4(serve->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct client *client;

    if (fd >= 0 && serve->count == CLIENTS_MAX)
        close(fd);
    else if (fd >= 0 && client_new(fd, serve->events, &client) == 0) {
        if (client->privileged || serve->count < CLIENTS_MAX - RESERVED)
            serve->clients[serve->count++] = client;
        else
            client_free(client);
    }
}

/* Hanging up at once would reset the connection under a caller who still writes, and he would never read why. So he is
   done with when his line ends, or when he hangs up. */
static bool refuse_long(struct client *client)
{
    client->refused = true;
    client->request_size = 0;
    return client_refuse(client, "a request is a line of at most 4096 bytes");
}

static bool read_requests(struct serve *serve, struct client *client)
{
    ssize_t got = recv(client->fd, client->request + client->request_size,
                       sizeof(client->request) - client->request_size, 0);
    char *end;

    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    if (client->refused)
        return !memchr(client->request, '\n', (size_t)got);
    client->request_size += (size_t)got;
    while ((end = memchr(client->request, '\n', client->request_size))) {
        size_t line = (size_t)(end - client->request);

        if (!requests_handle(serve->requests, client, client->request, line) || client->gone)
            return false;
        client->request_size -= line + 1;
        memmove(client->request, end + 1, client->request_size);
    }
    return client->request_size < sizeof(client->request) || refuse_long(client);
}

void serve_event(struct serve *serve, int fd, uint32_t events)
{
    bool alive = true;

    if (fd == serve->listener) {
        accept_client(serve);
        return;
    }
    for (unsigned i = 0; i < serve->count; i++) {
        struct client *client = serve->clients[i];

        if (client->fd != fd)
            continue;
        if (events & EPOLLOUT)
            alive = client_put_more(client);
        if (alive && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            alive = read_requests(serve, client);
        if (!alive)
            drop_client(serve, client);
        return;
    }
}

struct serve_wish serve_wish(const struct serve *serve)
{
    struct serve_wish wish = {.interval_ns = SECOND_NS, .grain = GRAIN_JOBS};

    for (unsigned i = 0; i < serve->count; i++) {
        const struct client *client = serve->clients[i];
        enum grain grain = client->threads ? GRAIN_THREADS : GRAIN_PROCESSES;

        if (!client->watching || client->gone)
            continue;
        if (client->interval_ns < wish.interval_ns)
            wish.interval_ns = client->interval_ns;
        if (grain > wish.grain)
            wish.grain = grain;
    }
    return wish;
}

static bool is_shown(const struct client *client, bool hurried)
{
    return client->watching && !client->gone && (client->interval_ns < SECOND_NS) == hurried;
}

/* Somebody may be at work on a client: so nobody is let go here. */
static void show(struct serve *serve, const struct batch *batch, bool hurried)
{
    struct showing showing;

    showing_begin(batch, &showing);
    for (unsigned i = 0; i < serve->count; i++) {
        struct client *client = serve->clients[i];

        if (is_shown(client, hurried))
            client->gone = !showing_put(&showing, client);
    }
    showing_clear(&showing);
}

static void forget_second(struct serve *serve)
{
    batch_free(serve->second);
    serve->second = NULL;
}

/* Shorter samples, while somebody wants them, come together for all others until the second of the wall clock is over. */
static int gather_second(struct serve *serve, const struct batch *batch)
{
    int64_t end_ns = batch->start_ns + (int64_t)batch->duration_ns;
    unsigned unhurried = 0;
    int err = 0;

    for (unsigned i = 0; i < serve->count; i++)
        unhurried += is_shown(serve->clients[i], false);
    if (!unhurried)
        forget_second(serve);
    else if (!serve->second)
        err = batch_new(&serve->second);
    if (!unhurried || err)
        return err;
    err = batch_merge(serve->second, batch, GRAIN_THREADS);
    if (err || end_ns / SECOND_NS == serve->second->start_ns / SECOND_NS)
        return err;
    serve->second->interval_ms = SECOND_NS / 1000000;
    show(serve, serve->second, false);
    forget_second(serve);
    return 0;
}

int serve_batch(struct serve *serve, const struct batch *batch)
{
    show(serve, batch, true);
    if (serve->second || batch->interval_ms < SECOND_NS / 1000000)
        return gather_second(serve, batch);
    show(serve, batch, false);
    return 0;
}

/* One end of an interval is enough for all who want one. */
static void flush(struct serve *serve)
{
    for (unsigned i = 0; i < serve->count; i++) {
        struct client *client = serve->clients[i];

        if (client->flush_wanted && !client->gone && requests_flush(serve->requests, client))
            client->flush_wanted = false;
    }
}

void serve_progress(struct serve *serve)
{
    flush(serve);
    for (unsigned i = serve->count; i-- > 0;)
        if (serve->clients[i]->gone || !requests_progress(serve->requests, serve->clients[i]))
            drop_client(serve, serve->clients[i]);
}
