/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "lib/cleanup.h"
#include "lib/clock.h"

static struct sockaddr_un manager;
static socklen_t manager_size; /* 0: there is none */
static int line = -1;          /* to it from the start, as root may reach it, and whom we become may not */

static int open_line(void)
{
    const struct timeval patience = {.tv_sec = 1};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) &&
        !connect(fd, (const struct sockaddr *)&manager, manager_size))
        return fd;
    cleanup_close(&fd);
    return -1;
}

void notify_init(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path ? strlen(path) : 0;

    manager_size = 0;
    if (length > 1 && length < sizeof(manager.sun_path) && (*path == '/' || *path == '@')) {
        manager.sun_family = AF_UNIX;
        memcpy(manager.sun_path, path, length + 1);
        if (*path == '@')
            manager.sun_path[0] = '\0'; /* an abstract one has no NUL at its end */
        manager_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (*path == '/'));
    }
    if (manager_size)
        line = open_line();
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

/* False when nobody is there. */
static bool say(const char *text)
{
    ssize_t sent;

    do
        sent = send(line, text, strlen(text), MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 || errno == EAGAIN;
}

/* Nobody can be told that it did not work, and nothing depends on it but the manager's patience. A busy one is waited
   for, but not for long; one that began anew has another socket. */
static void tell(const char *text)
{
    if (!manager_size || (line >= 0 && say(text)))
        return;
    cleanup_close(&line);
    line = open_line();
    if (line >= 0)
        say(text);
}

/* A status is one line. */
static void tell_with(const char *before, const char *status)
{
    char text[512];

    snprintf(text, sizeof(text), "%sSTATUS=%.*s", before, (int)strcspn(status, "\n"), status);
    tell(text);
}

void notify_ready(const char *status)
{
    tell_with("READY=1\n", status);
}

void notify_status(const char *status)
{
    tell_with("", status);
}

void notify_reloading(void)
{
    char text[64];

    snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_ns() / 1000);
    tell(text);
}

void notify_stopping(void)
{
    tell("STOPPING=1");
}

void notify_alive(void)
{
    tell("WATCHDOG=1");
}
