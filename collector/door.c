/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/door.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/thread.h"

#define PAUSE_MS 100 /* for descriptors or memory to be there again */

struct door {
    pthread_t keeper;
    struct MHD_Daemon *daemon;
    struct visitors *visitors;
    int fd, closing;
};

/* Whether it is time to close: at once when there is something else to do. */
static bool is_closing(const struct door *door, short what, int timeout_ms)
{
    struct pollfd poll_fds[] = {{.fd = door->closing, .events = POLLIN}, {.fd = door->fd, .events = what}};

    while (poll(poll_fds, what ? 2 : 1, timeout_ms) < 0 && errno == EINTR)
        ;
    return poll_fds[0].revents;
}

/* One who may wait no longer than for us. False: nobody came in. */
static bool let_in(const struct door *door)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    int fd = accept4(door->fd, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            log_error("cannot take a connection: %s", log_errno(-errno));
            is_closing(door, 0, PAUSE_MS);
        }
        return false;
    }
    /* The library closes it when it fails. */
    return MHD_add_connection(door->daemon, fd, (struct sockaddr *)&address, length) == MHD_YES;
}

static void *keep(void *context)
{
    struct door *door = context;

    while (!is_closing(door, POLLIN, -1) && visitors_await_room(door->visitors))
        if (!let_in(door))
            visitors_gave_up(door->visitors);
    return NULL;
}

int door_open(int fd, struct MHD_Daemon *daemon, struct visitors *visitors, struct door **out)
{
    struct door *door = calloc(1, sizeof(*door));
    int err = door ? 0 : -ENOMEM;

    if (!err) {
        *door = (struct door){.daemon = daemon, .visitors = visitors, .fd = fd, .closing = eventfd(0, EFD_CLOEXEC)};
        err = door->closing < 0 ? -errno : thread_start(&door->keeper, keep, door);
    }
    if (!err) {
        *out = door;
        return 0;
    }
    if (door && door->closing >= 0)
        close(door->closing);
    free(door);
    close(fd);
    return err;
}

void door_close(struct door *door)
{
    if (!door)
        return;
    eventfd_write(door->closing, 1);
    visitors_shut(door->visitors);
    pthread_join(door->keeper, NULL);
    close(door->closing);
    close(door->fd);
    free(door);
}
