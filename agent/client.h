/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A caller on the local socket: what it may see, and what is still to be written to it. */
#ifndef UNBLEND_AGENT_CLIENT_H
#define UNBLEND_AGENT_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_MAX 4096 /* bytes of one line */
#define CLIENT_INTERVAL_NS     1000000000 /* between frames, unless the caller wants them sooner */
#define CLIENT_INTERVAL_NS_MIN 100000000

struct client {
    int fd;
    int events; /* the epoll descriptor it is registered with */
    uint32_t uid;
    bool privileged; /* root, or a member of the group unblend */
    bool watching;
    bool packed; /* frames as lib/packed.h has them */
    bool threads; /* by thread */
    bool gone; /* a frame did not reach it: it is let go when nobody is at work on it */
    uint64_t interval_ns; /* at least so often; CLIENT_INTERVAL_NS at most */
    int64_t flush_until_ms; /* monotonic; 0: no flush is waiting for its answer */
    bool flush_wanted;   /* it waits for the end of an interval, too */
    uint64_t flush_ends; /* agent_ends() when it was asked for */
    bool refused;        /* for good: what still comes of the line is thrown away */
    char request[REQUEST_MAX];
    size_t request_size;
    char *output; /* what the socket did not take yet */
    size_t output_size;
};

/* Takes a connected, non-blocking socket over. 0 or -errno; the socket is closed then. */
int client_new(int fd, int events, struct client **out);
void client_free(struct client *client);

/* Writes what the socket takes and keeps the rest. False when the client is gone or too slow. */
bool client_put(struct client *client, const void *data, size_t size);

/* Goes on with what was kept. */
bool client_put_more(struct client *client);

/* Answers a request with one line; takes the object over (NULL: no memory). False when the client is gone. */
bool client_answer(struct client *client, json_t *object);
bool client_refuse(struct client *client, const char *why);

#endif
