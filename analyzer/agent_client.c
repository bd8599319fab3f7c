/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/agent_client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/packed.h"
#include "lib/recording.h"

struct agent_client {
    int fd;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char *buffer;
    size_t size, capacity;
    bool packed; /* the form of the frames */
};

int agent_connect(const char *path, struct agent_client **out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct agent_client *client;
    int err = 0;

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    client = calloc(1, sizeof(*client));
    if (!client)
        return -ENOMEM;
    strcpy(address.sun_path, path);
    strcpy(client->path, path);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof(address)))
        err = -errno;
    if (err) {
        agent_close(client);
        return err;
    }
    *out = client;
    return 0;
}

void agent_close(struct agent_client *client)
{
    if (!client)
        return;
    if (client->fd >= 0)
        close(client->fd);
    free(client->buffer);
    free(client);
}

/* Reads some more into the buffer. 0 or -errno, logged. */
static int receive(struct agent_client *client)
{
    ssize_t got;

    if (client->capacity - client->size < 65536) {
        size_t capacity = client->capacity ? client->capacity * 2 : 131072;
        char *grown = capacity > RECORDING_FRAME_MAX + 131072u ? NULL
                                                               : realloc(client->buffer, capacity);

        if (!grown) {
            log_error("agent %s: its answer does not fit into memory", client->path);
            return -ENOMEM;
        }
        client->buffer = grown;
        client->capacity = capacity;
    }
    do
        got = recv(client->fd, client->buffer + client->size, client->capacity - client->size, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0) {
        int err = got < 0 ? -errno : -EPIPE;

        log_error("agent %s: %s", client->path,
                  got < 0 ? log_why(err) : "it has closed the connection; is it still running?");
        return err;
    }
    client->size += (size_t)got;
    return 0;
}

static void consume(struct agent_client *client, size_t size)
{
    client->size -= size;
    memmove(client->buffer, client->buffer + size, client->size);
}

static int send_all(struct agent_client *client, const char *data, size_t size)
{
    while (size) {
        ssize_t sent = send(client->fd, data, size, MSG_NOSIGNAL);

        if (sent < 0 && errno != EINTR) {
            log_error("agent %s: %s", client->path, strerror(errno));
            return -errno;
        }
        if (sent > 0) {
            data += sent;
            size -= (size_t)sent;
        }
    }
    return 0;
}

/* Takes the request over. */
static int send_request(struct agent_client *client, json_t *request)
{
    _cleanup_free_ char *line = request ? json_dumps(request, JSON_COMPACT) : NULL;
    int err = line ? send_all(client, line, strlen(line)) : -ENOMEM;

    json_decref(request);
    return err ? err : send_all(client, "\n", 1);
}

int agent_request(struct agent_client *client, json_t *request, json_t **answer)
{
    int err = send_request(client, request);
    json_t *got;
    char *end;

    while (!err && !(client->size && memchr(client->buffer, '\n', client->size)))
        err = receive(client);
    if (err)
        return err;
    end = memchr(client->buffer, '\n', client->size);
    got = json_loadb(client->buffer, (size_t)(end - client->buffer), 0, NULL);
    consume(client, (size_t)(end - client->buffer) + 1);
    if (!json_is_true(json_object_get(got, "ok"))) {
        const char *why = json_string_value(json_object_get(got, "why"));

        log_error("agent %s: %s", client->path, why && *why ? why : "it has refused the request");
        json_decref(got);
        return -EPROTO;
    }
    if (answer)
        *answer = got;
    else
        json_decref(got);
    return 0;
}

static json_t *pace_request(const char *request, struct agent_pace pace)
{
    uint64_t interval_ms = pace.interval_ns && pace.interval_ns < 1000000000 ? pace.interval_ns / 1000000 : 1000;

    return json_pack("{s:s, s:I, s:b}", "request", request, "interval_ms", (json_int_t)interval_ms, "threads",
                     (int)pace.threads);
}

int agent_watch(struct agent_client *client, struct agent_pace pace)
{
    json_t *answer = NULL, *request = pace_request("watch", pace);
    const char *form;
    int err;

    json_object_set_new(request, "form", json_string(PACKED_FORM));
    err = agent_request(client, request, &answer);
    if (err)
        return err;
    form = json_string_value(json_object_get(answer, "form")); /* older agents know one only, and do not say */
    client->packed = form && strcmp(form, PACKED_FORM) == 0;
    json_decref(answer);
    return 0;
}

int agent_repace(struct agent_client *client, struct agent_pace pace)
{
    return send_request(client, pace_request("pace", pace)); /* it has no answer */
}

/* A batch from the front of the buffer. 1, 0 when it is not complete, -errno, logged. */
static int take_batch(struct agent_client *client, struct batch **out)
{
    struct codec_error error = {.why = "no frame"};
    const void *payload;
    size_t size, used;
    int found = client->size ? frame_next(client->buffer, client->size, &payload, &size, &used) : 0;

    if (found == 1) {
        int err = (client->packed ? packed_decode : frame_decode)(payload, size, out, &error);

        consume(client, used);
        found = err ? err : 1;
    }
    if (found < 0)
        log_error("agent %s: what it sent is damaged (%s %s): are both of one version?", client->path,
                  error.field, error.why);
    return found;
}

int agent_next(struct agent_client *client, int fd, int timeout_ms, struct batch **out)
{
    for (;;) {
        struct pollfd events[2] = {{.fd = client->fd, .events = POLLIN},
                                   {.fd = fd, .events = POLLIN}};
        int found = take_batch(client, out);
        int err;

        if (found)
            return found;
        if (poll(events, 2, timeout_ms) <= 0)
            return 0;
        if (events[1].revents)
            return 0;
        err = receive(client);
        if (err)
            return err;
    }
}
