/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/requests.h"
#include "agent/visible.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/path.h"
#include "lib/recording.h"

#define CLIENTS_MAX 64

struct serve {
    struct requests *requests;
    int events, listener;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct client *clients[CLIENTS_MAX];
    unsigned count;
};

/* A socket left by a crash is replaced; one that somebody answers on is not. */
static bool is_alive(const struct sockaddr_un *address)
{
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
}

static int listen_on(struct serve *serve)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct epoll_event event = {.events = EPOLLIN};

    memcpy(address.sun_path, serve->path, sizeof(address.sun_path));
    path_make_parents(serve->path, 0755);
    if (is_alive(&address))
        return -EADDRINUSE;
    unlink(serve->path);
    serve->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    event.data.fd = serve->listener;
    if (serve->listener < 0 ||
        bind(serve->listener, (struct sockaddr *)&address, sizeof(address)) ||
        chmod(serve->path, 0666) || listen(serve->listener, 16) ||
        epoll_ctl(serve->events, EPOLL_CTL_ADD, serve->listener, &event))
        return -errno;
    return 0;
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
        log_error("socket %s: %s", path,
                  err == -EADDRINUSE ? "another agent answers there; stop it or give --socket"
                                     : log_errno(err));
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
    unlink(serve->path);
    requests_free(serve->requests);
    free(serve);
}

static void accept_client(struct serve *serve)
{
    int fd = accept4(serve->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd >= 0 && serve->count == CLIENTS_MAX)
        close(fd);
    else if (fd >= 0 && client_new(fd, serve->events, &serve->clients[serve->count]) == 0)
        serve->count++;
}

static bool read_requests(struct serve *serve, struct client *client)
{
    ssize_t got = recv(client->fd, client->request + client->request_size,
                       sizeof(client->request) - client->request_size, 0);
    char *end;

    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    client->request_size += (size_t)got;
    while ((end = memchr(client->request, '\n', client->request_size))) {
        size_t line = (size_t)(end - client->request);

        if (!requests_handle(serve->requests, client, client->request, line))
            return false;
        client->request_size -= line + 1;
        memmove(client->request, end + 1, client->request_size);
    }
    return client->request_size < sizeof(client->request);
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

/* A frame that everybody gets who sees all, made once for each form. */
struct frame {
    void *data;
    size_t size;
};

static int make_frame(const struct batch *batch, bool packed, struct frame *frame)
{
    return (packed ? frame_pack : frame_encode)(batch, &frame->data, &frame->size);
}

/* Without memory now nothing is sent: the next sample comes in a second. */
static bool put_batch(struct client *client, const struct batch *batch, struct frame whole[2])
{
    _cleanup_(batch_freep) struct batch *visible = NULL;
    struct frame own = {0}, *frame = &whole[client->packed];
    bool alive;

    if (client->privileged) {
        if (!frame->data && make_frame(batch, client->packed, frame))
            return true;
        return client_put(client, frame->data, frame->size);
    }
    if (visible_batch(batch, client->uid, &visible) || make_frame(visible, client->packed, &own))
        return true;
    alive = client_put(client, own.data, own.size);
    free(own.data);
    return alive;
}

bool serve_is_watched(const struct serve *serve)
{
    for (unsigned i = 0; i < serve->count; i++)
        if (serve->clients[i]->watching)
            return true;
    return false;
}

void serve_batch(struct serve *serve, const struct batch *batch)
{
    struct frame whole[2] = {{0}};

    for (unsigned i = serve->count; i-- > 0;) {
        struct client *client = serve->clients[i];

        if (client->watching && !put_batch(client, batch, whole))
            drop_client(serve, client);
    }
    free(whole[0].data);
    free(whole[1].data);
}

void serve_progress(struct serve *serve)
{
    for (unsigned i = serve->count; i-- > 0;)
        if (!requests_progress(serve->requests, serve->clients[i]))
            drop_client(serve, serve->clients[i]);
}
