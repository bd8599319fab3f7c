/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/client.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define BACKLOG_MAX (32u << 20) /* bytes that a slow watcher may lag behind before it is dropped */

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

int client_new(int fd, int events, struct client **out)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    struct client *client = calloc(1, sizeof(*client));
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (!client || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
        epoll_ctl(events, EPOLL_CTL_ADD, fd, &event)) {
        int err = client ? -errno : -ENOMEM;

        free(client);
        close(fd);
        return err;
    }
    client->fd = fd;
    client->events = events;
    client->uid = peer.uid;
    client->interval_ns = CLIENT_INTERVAL_NS;
    client->privileged = is_privileged(fd, &peer);
    *out = client;
    return 0;
}

void client_free(struct client *client)
{
    close(client->fd);
    free(client->output);
    free(client);
}

/* Waits for room in the socket only while there is something to write. */
static void wait_for_room(const struct client *client)
{
    struct epoll_event event = {.events = EPOLLIN | (client->output_size ? EPOLLOUT : 0u),
                                .data.fd = client->fd};

    epoll_ctl(client->events, EPOLL_CTL_MOD, client->fd, &event);
}

bool client_put(struct client *client, const void *data, size_t size)
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
    wait_for_room(client);
    return true;
}

bool client_put_more(struct client *client)
{
    ssize_t sent = send(client->fd, client->output, client->output_size, MSG_NOSIGNAL);

    if (sent < 0)
        return errno == EAGAIN;
    client->output_size -= (size_t)sent;
    memmove(client->output, client->output + sent, client->output_size);
    wait_for_room(client);
    return true;
}

bool client_answer(struct client *client, json_t *object)
{
    _cleanup_free_ char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    _cleanup_free_ char *line = NULL;

    json_decref(object);
    if (!text || asprintf(&line, "%s\n", text) < 0)
        return false;
    return client_put(client, line, strlen(line));
}

bool client_refuse(struct client *client, const char *why)
{
    return client_answer(client, json_pack("{s:b, s:s}", "ok", 0, "why", why));
}
