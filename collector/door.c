/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/door.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/thread.h"

#define PAUSE_MS 100 /* for descriptors, memory or a place in the line to be there again */

struct door {
    pthread_t taker, usher;
    struct MHD_Daemon *daemon;
    struct visitors *visitors;
    int fd, closing;
    pthread_mutex_t lock;
    pthread_cond_t came;
    int *line; /* descriptors, in a ring */
    unsigned first, count, max; /* max: with those who are in */
    bool is_closed, is_taking;
};

/* Whether it is time to close: at once when somebody is there, if that is asked for. */
static bool is_closing(const struct door *door, bool somebody, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = door->closing, .events = POLLIN}, {.fd = door->fd, .events = POLLIN}};

    while (poll(fds, somebody ? 2 : 1, timeout_ms) < 0 && errno == EINTR)
        ;
    return fds[0].revents;
}

/* In the line, and in. */
static unsigned in_all(struct door *door)
{
    unsigned count;

    pthread_mutex_lock(&door->lock);
    count = door->count + visitors_count(door->visitors);
    pthread_mutex_unlock(&door->lock);
    return count;
}

static void queue(struct door *door, int fd)
{
    pthread_mutex_lock(&door->lock);
    door->line[(door->first + door->count++) % door->max] = fd;
    pthread_cond_signal(&door->came);
    pthread_mutex_unlock(&door->lock);
}

/* One who waits in the kernel's line: a descriptor, or -errno. */
static int take_one(struct door *door)
{
    int fd;

    if (in_all(door) >= door->max)
        return -EMFILE;
    fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* From the kernel's line into ours. */
static void *take(void *context)
{
    struct door *door = context;
    bool said = false;

    while (!is_closing(door, true, -1)) {
        int fd = take_one(door);

        if (fd >= 0) {
            queue(door, fd);
            said = said && in_all(door) > door->max / 2;
            continue;
        }
        if ((fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM) && !said) {
            log_warning("no more connections than the %u that are there: %s: the others wait", in_all(door),
                        log_errno(fd));
            said = true;
        }
        is_closing(door, false, PAUSE_MS);
    }
    return NULL;
}

/* The first of the line; -1: the door is closed. */
static int next(struct door *door)
{
    int fd = -1;

    pthread_mutex_lock(&door->lock);
    while (!door->count && !door->is_closed)
        pthread_cond_wait(&door->came, &door->lock);
    if (!door->is_closed) {
        fd = door->line[door->first];
        door->first = (door->first + 1) % door->max;
        door->count--;
    }
    pthread_mutex_unlock(&door->lock);
    return fd;
}

static bool let_in(struct door *door, int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);

    if (getpeername(fd, (struct sockaddr *)&address, &length)) {
        close(fd); /* gone meanwhile */
        return false;
    }
    /* The library closes it when it fails. */
    return MHD_add_connection(door->daemon, fd, (struct sockaddr *)&address, length) == MHD_YES;
}

static void *usher(void *context)
{
    struct door *door = context;
    int fd;

    while ((fd = next(door)) >= 0) {
        if (!visitors_await_room(door->visitors)) {
            close(fd);
            break;
        }
        if (!let_in(door, fd))
            visitors_gave_up(door->visitors);
    }
    return NULL;
}

static void door_free(struct door *door)
{
    for (; door->count; door->count--, door->first++)
        close(door->line[door->first % door->max]);
    if (door->closing >= 0)
        close(door->closing);
    close(door->fd);
    pthread_cond_destroy(&door->came);
    pthread_mutex_destroy(&door->lock);
    free(door->line);
    free(door);
}

int door_open(int fd, struct MHD_Daemon *daemon, struct visitors *visitors, unsigned connections_max, struct door **out)
{
    struct door *door = calloc(1, sizeof(*door));
    int err;

    if (!door) {
        close(fd);
        return -ENOMEM;
    }
    *door = (struct door){.daemon = daemon,
                          .visitors = visitors,
                          .fd = fd,
                          .closing = eventfd(0, EFD_CLOEXEC),
                          .line = calloc(connections_max, sizeof(*door->line)),
                          .max = connections_max};
    pthread_mutex_init(&door->lock, NULL);
    pthread_cond_init(&door->came, NULL);
    err = door->closing < 0 ? -errno : door->line ? 0 : -ENOMEM;
    if (!err)
        err = thread_start(&door->usher, usher, door);
    if (err) {
        door_free(door);
        return err;
    }
    err = thread_start(&door->taker, take, door);
    door->is_taking = !err;
    if (err)
        door_close(door);
    else
        *out = door;
    return err;
}

void door_close(struct door *door)
{
    if (!door)
        return;
    eventfd_write(door->closing, 1);
    visitors_shut(door->visitors);
    pthread_mutex_lock(&door->lock);
    door->is_closed = true;
    pthread_cond_signal(&door->came);
    pthread_mutex_unlock(&door->lock);
    if (door->is_taking)
        pthread_join(door->taker, NULL);
    pthread_join(door->usher, NULL);
    door_free(door);
}
