/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/serve.h"

#include <errno.h>
#include <grp.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "agent/visible.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/recording.h"
#include "probe/sampler.h"

#define CLIENTS_MAX  64
#define REQUEST_MAX  4096
#define BACKLOG_MAX  (32u << 20) /* bytes that a slow watcher may lag behind before it is dropped */
#define FLUSH_MS_MAX 60000

struct client {
    int fd;
    uint32_t uid;
    bool privileged;
    bool watching;
    int64_t flush_until_ms; /* 0: no flush is waiting for its answer */
    char request[REQUEST_MAX];
    size_t request_size;
    char *output; /* what the socket did not take yet */
    size_t output_size;
};

struct serve {
    struct agent *agent;
    int events, listener;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct client *clients[CLIENTS_MAX];
    unsigned count;
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Makes the socket's directory, which under /run is gone after a reboot. */
static void make_parent(const char *path)
{
    _cleanup_free_ char *parent = strdup(path);
    char *slash = parent ? strrchr(parent, '/') : NULL;

    if (slash && slash != parent) {
        *slash = '\0';
        mkdir(parent, 0755);
    }
}

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
    make_parent(serve->path);
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

    if (!serve)
        return -ENOMEM;
    serve->agent = agent;
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
    close(client->fd);
    free(client->output);
    free(client);
}

void serve_free(struct serve *serve)
{
    if (!serve)
        return;
    while (serve->count)
        drop_client(serve, serve->clients[0]);
    close(serve->listener);
    unlink(serve->path);
    free(serve);
}

/* Root, and the members of the group "unblend", by the groups the kernel knows of the caller. */
static bool is_privileged(int fd, const struct ucred *peer)
{
    const struct group *group = getgrnam("unblend");
    gid_t groups[256];
    socklen_t size = sizeof(groups);

    if (peer->uid == 0 || (group && peer->gid == group->gr_gid))
        return true;
    if (!group || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
        return false;
    for (size_t i = 0; i < size / sizeof(*groups); i++)
        if (groups[i] == group->gr_gid)
            return true;
    return false;
}

static void accept_client(struct serve *serve)
{
    int fd = accept4(serve->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    struct client *client = calloc(1, sizeof(*client));
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (fd < 0 || !client || serve->count == CLIENTS_MAX ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
        epoll_ctl(serve->events, EPOLL_CTL_ADD, fd, &event)) {
        if (fd >= 0)
            close(fd);
        free(client);
        return;
    }
    client->fd = fd;
    client->uid = peer.uid;
    client->privileged = is_privileged(fd, &peer);
    serve->clients[serve->count++] = client;
}

/* Waits for room in the socket only while there is something to write. */
static void wait_for_room(const struct serve *serve, const struct client *client)
{
    struct epoll_event event = {.events = EPOLLIN | (client->output_size ? EPOLLOUT : 0u),
                                .data.fd = client->fd};

    epoll_ctl(serve->events, EPOLL_CTL_MOD, client->fd, &event);
}

/* Writes what the socket takes and keeps the rest. False when the client is gone or too slow. */
static bool put(const struct serve *serve, struct client *client, const void *data, size_t size)
{
    ssize_t sent = 0;
    char *grown;

    if (!client->output_size) {
        sent = send(client->fd, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return false;
        if (sent < 0)
            sent = 0;
    }
    size -= (size_t)sent;
    if (!size)
        return true;
    if (client->output_size + size > BACKLOG_MAX)
        return false;
    grown = realloc(client->output, client->output_size + size);
    if (!grown)
        return false;
    memcpy(grown + client->output_size, (const char *)data + sent, size);
    client->output = grown;
    client->output_size += size;
    wait_for_room(serve, client);
    return true;
}

static bool put_more(const struct serve *serve, struct client *client)
{
    ssize_t sent = send(client->fd, client->output, client->output_size, MSG_NOSIGNAL);

    if (sent < 0)
        return errno == EAGAIN;
    client->output_size -= (size_t)sent;
    memmove(client->output, client->output + sent, client->output_size);
    wait_for_room(serve, client);
    return true;
}

/* Takes the answer over. False when the client is gone. */
static bool answer(const struct serve *serve, struct client *client, json_t *object)
{
    _cleanup_free_ char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    _cleanup_free_ char *line = NULL;

    json_decref(object);
    if (!text || asprintf(&line, "%s\n", text) < 0)
        return false;
    return put(serve, client, line, strlen(line));
}

static bool refuse(const struct serve *serve, struct client *client, const char *why)
{
    return answer(serve, client, json_pack("{s:b, s:s}", "ok", 0, "why", why));
}

/* --- requests --- */

static bool owns_process(const struct client *client, json_int_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%lld", (long long)pid);
    return pid > 0 && pid <= INT32_MAX && stat(path, &st) == 0 &&
           (client->uid == 0 || st.st_uid == client->uid);
}

static bool request_job(struct serve *serve, struct client *client, json_t *request)
{
    const char *name = NULL, *command = "", *user = NULL;
    struct job job = {.kind = "command", .exit = -1};
    json_int_t pid = 0;
    uint32_t id;
    int err;

    if (json_unpack(request, "{s:s, s:I, s?:s, s?:s}", "job", &name, "pid", &pid, "command",
                    &command, "user", &user) ||
        !*name || strlen(name) > 255)
        return refuse(serve, client, "a job needs a name of 1 to 255 bytes and a pid");
    if (!owns_process(client, pid))
        return refuse(serve, client, "that process is not the caller's");
    job.name = name;
    job.command = command;
    job.user = user;
    job.start_ns = wall_clock_ns();
    err = agent_adopt(serve->agent, (pid_t)pid, &job, &id);
    if (err)
        return refuse(serve, client, log_errno(err));
    return answer(serve, client, json_pack("{s:b, s:I}", "ok", 1, "id", (json_int_t)id));
}

static bool request_exit(struct serve *serve, struct client *client, json_t *request)
{
    json_int_t id = 0;
    int status = -1;

    if (json_unpack(request, "{s:I, s:i}", "id", &id, "status", &status))
        return refuse(serve, client, "exit needs an id and a status");
    agent_job_exit(serve->agent, (uint32_t)id, status);
    return answer(serve, client, json_pack("{s:b}", "ok", 1));
}

static bool request_living(struct serve *serve, struct client *client, json_t *request)
{
    json_int_t id = 0;
    unsigned living;

    if (json_unpack(request, "{s:I}", "id", &id))
        return refuse(serve, client, "living needs an id");
    living = agent_job_living(serve->agent, (uint32_t)id);
    return answer(serve, client,
                  json_pack("{s:b, s:I}", "ok", 1, "living", (json_int_t)living));
}

static bool request_flush(struct serve *serve, struct client *client, json_t *request)
{
    int timeout_ms = FLUSH_MS_MAX;

    json_unpack(request, "{s?:i}", "timeout_ms", &timeout_ms);
    if (timeout_ms < 1 || timeout_ms > FLUSH_MS_MAX)
        timeout_ms = FLUSH_MS_MAX;
    agent_flush(serve->agent); /* what could not be spooled shows in the answer */
    client->flush_until_ms = now_ms() + timeout_ms;
    return true; /* answered by serve_progress() */
}

static bool request_watch(struct serve *serve, struct client *client, json_t *request)
{
    client->watching = true;
    return answer(serve, client, json_pack("{s:b}", "ok", 1));
}

static const struct {
    const char *name;
    bool (*handle)(struct serve *, struct client *, json_t *);
} requests[] = {
    {"job", request_job},     {"exit", request_exit},   {"living", request_living},
    {"flush", request_flush}, {"watch", request_watch},
};

static bool handle_line(struct serve *serve, struct client *client, const char *line, size_t size)
{
    json_t *request = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(request, "request"));
    bool handled = false, alive = true;

    for (size_t i = 0; name && i < sizeof(requests) / sizeof(*requests); i++)
        if (strcmp(requests[i].name, name) == 0) {
            alive = requests[i].handle(serve, client, request);
            handled = true;
        }
    if (!handled)
        alive = refuse(serve, client, "no such request");
    json_decref(request);
    return alive;
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

        if (!handle_line(serve, client, client->request, line))
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
            alive = put_more(serve, client);
        if (alive && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            alive = read_requests(serve, client);
        if (!alive)
            drop_client(serve, client);
        return;
    }
}

static bool put_batch(const struct serve *serve, struct client *client, const struct batch *batch)
{
    _cleanup_(batch_freep) struct batch *visible = NULL;
    _cleanup_free_ void *frame = NULL;
    size_t size;

    if (!client->privileged && visible_batch(batch, client->uid, &visible))
        return true; /* no memory now; the next sample comes in a second */
    if (frame_encode(visible ? visible : batch, &frame, &size))
        return true;
    return put(serve, client, frame, size);
}

void serve_batch(struct serve *serve, const struct batch *batch)
{
    for (unsigned i = serve->count; i-- > 0;) {
        struct client *client = serve->clients[i];

        if (client->watching && !put_batch(serve, client, batch))
            drop_client(serve, client);
    }
}

void serve_progress(struct serve *serve)
{
    for (unsigned i = serve->count; i-- > 0;) {
        struct client *client = serve->clients[i];
        unsigned pending;
        char why[400];
        bool done;

        if (!client->flush_until_ms)
            continue;
        pending = agent_pending(serve->agent, why, sizeof(why));
        done = !pending && !agent_has_unspooled(serve->agent);
        if (!done && now_ms() < client->flush_until_ms)
            continue;
        client->flush_until_ms = 0;
        done = done && !*why; /* the last one was refused */
        if (!answer(serve, client,
                    json_pack("{s:b, s:I, s:s}", "ok", (int)done, "pending", (json_int_t)pending,
                              "why", why)))
            drop_client(serve, client);
    }
}
