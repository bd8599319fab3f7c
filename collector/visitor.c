/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/visitor.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "collector/metrics.h"
#include "collector/refusal.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/thread.h"

#define SWEEP_MS       250
#define NONSENSE_BYTES 8 /* more than these came */

struct visitor {
    struct visitor *next, *before; /* in the list of those who have shown nothing */
    int fd;
    bool proven, busy, cut;
    bool asked; /* of the library's thread alone */
    int64_t deadline_ms;
    char address[64];
};

struct visitors {
    pthread_mutex_t lock;
    pthread_cond_t ending;
    pthread_t sweeper;
    struct visitor list; /* its head; the oldest first */
    unsigned count;
    unsigned said; /* of the library's thread alone */
    bool tls, is_ending;
};

/* Out of the list. */
static void leave(struct visitors *visitors, struct visitor *visitor)
{
    visitor->before->next = visitor->next;
    visitor->next->before = visitor->before;
    visitors->count--;
}

/* To its end. */
static void join(struct visitors *visitors, struct visitor *visitor)
{
    visitor->next = &visitors->list;
    visitor->before = visitors->list.before;
    visitor->before->next = visitor->next->before = visitor;
    visitors->count++;
}

/* The library then finds it closed. */
static void cut(struct visitors *visitors, struct visitor *visitor)
{
    static const char answer[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

    if (!visitors->tls && send(visitor->fd, answer, sizeof(answer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        metrics_answer(408);
    shutdown(visitor->fd, SHUT_RDWR);
    visitor->cut = true;
    leave(visitors, visitor);
}

/* Those whose time is over, and how many there were. */
static unsigned cut_late(struct visitors *visitors, char address[64])
{
    int64_t now = monotonic_ms();
    unsigned number = 0;

    for (struct visitor *visitor = visitors->list.next, *next; visitor != &visitors->list; visitor = next) {
        next = visitor->next;
        if (visitor->busy || visitor->deadline_ms > now)
            continue;
        strcpy(address, visitor->address);
        cut(visitors, visitor);
        number++;
    }
    return number;
}

/* The oldest, while there are too many. */
static unsigned cut_crowd(struct visitors *visitors, char address[64])
{
    unsigned number = 0;

    for (struct visitor *visitor = visitors->list.next, *next;
         visitor != &visitors->list && visitors->count > UNPROVEN_MAX; visitor = next) {
        next = visitor->next;
        if (visitor->busy)
            continue;
        strcpy(address, visitor->address);
        cut(visitors, visitor);
        number++;
    }
    return number;
}

static void say(unsigned number, const char *address, const char *why)
{
    char what[64];

    snprintf(what, sizeof(what), number == 1 ? "a connection" : "%u connections, the last", number);
    if (number)
        refusal_log(address, 0, what, "", why);
}

static void *sweep(void *context)
{
    struct visitors *visitors = context;

    pthread_mutex_lock(&visitors->lock);
    while (!visitors->is_ending) {
        struct timespec until;
        char address[64], crowd_address[64];
        unsigned late = cut_late(visitors, address), crowd = cut_crowd(visitors, crowd_address);

        if (late || crowd) {
            pthread_mutex_unlock(&visitors->lock);
            say(late, address, "no request of somebody with a token within 10 s");
            say(crowd, crowd_address, "too many that have not shown a token");
            pthread_mutex_lock(&visitors->lock);
        }
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += SWEEP_MS * 1000000L;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_nsec -= 1000000000L;
            until.tv_sec++;
        }
        if (!visitors->is_ending)
            pthread_cond_timedwait(&visitors->ending, &visitors->lock, &until);
    }
    pthread_mutex_unlock(&visitors->lock);
    return NULL;
}

int visitors_new(bool tls, struct visitors **out)
{
    struct visitors *visitors = calloc(1, sizeof(*visitors));
    int err;

    if (!visitors)
        return -ENOMEM;
    thread_condition(&visitors->ending);
    pthread_mutex_init(&visitors->lock, NULL);
    visitors->list.next = visitors->list.before = &visitors->list;
    visitors->tls = tls;
    err = thread_start(&visitors->sweeper, sweep, visitors);
    if (err) {
        free(visitors);
        return err;
    }
    *out = visitors;
    return 0;
}

void visitors_free(struct visitors *visitors)
{
    if (!visitors)
        return;
    pthread_mutex_lock(&visitors->lock);
    visitors->is_ending = true;
    pthread_cond_signal(&visitors->ending);
    pthread_mutex_unlock(&visitors->lock);
    pthread_join(visitors->sweeper, NULL);
    pthread_cond_destroy(&visitors->ending);
    pthread_mutex_destroy(&visitors->lock);
    free(visitors);
}

static void arrive(struct visitors *visitors, struct MHD_Connection *connection, void **slot)
{
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct visitor *visitor = fd ? calloc(1, sizeof(*visitor)) : NULL;
    socklen_t length = sizeof(struct sockaddr_in);

    if (!visitor)
        return; /* then its first request is refused */
    strcpy(visitor->address, "?");
    if (from && from->client_addr) {
        if (from->client_addr->sa_family == AF_INET6)
            length = sizeof(struct sockaddr_in6);
        getnameinfo(from->client_addr, length, visitor->address, sizeof(visitor->address), NULL, 0, NI_NUMERICHOST);
    }
    visitor->fd = fd->connect_fd;
    visitor->deadline_ms = monotonic_ms() + UNPROVEN_S * 1000;
    *slot = visitor;
    pthread_mutex_lock(&visitors->lock);
    join(visitors, visitor);
    pthread_mutex_unlock(&visitors->lock);
}

/* Whether something came that was no request; who only looks whether we are there sends nothing. */
static bool was_nonsense(const struct visitor *visitor)
{
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t length = sizeof(info);

    return !visitor->asked && !visitor->cut &&
           getsockopt(visitor->fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           info.tcpi_bytes_received > NONSENSE_BYTES;
}

/* The library closes the socket after this. */
static void depart(struct visitors *visitors, void **slot)
{
    struct visitor *visitor = *slot;

    if (!visitor)
        return;
    pthread_mutex_lock(&visitors->lock);
    if (!visitor->proven && !visitor->cut)
        leave(visitors, visitor);
    pthread_mutex_unlock(&visitors->lock);
    if (was_nonsense(visitor)) {
        if (visitors->said)
            visitors->said--;
        else
            refusal_log(visitor->address, 0, "a connection", "",
                        visitors->tls ? "no TLS 1.2 or 1.3 could be agreed upon" : "no HTTP came");
    }
    free(visitor);
    *slot = NULL;
}

void visitors_notify(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        arrive(context, connection, slot);
    else
        depart(context, slot);
}

struct visitor *visitor_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

void visitor_asks(struct visitor *visitor)
{
    visitor->asked = true;
}

void visitors_said(struct visitors *visitors)
{
    visitors->said++;
}

const char *visitor_address(const struct visitor *visitor)
{
    return visitor->address;
}

void visitor_busy(struct visitors *visitors, struct visitor *visitor, bool busy)
{
    pthread_mutex_lock(&visitors->lock);
    visitor->busy = busy;
    visitor->deadline_ms = monotonic_ms() + UNPROVEN_S * 1000;
    pthread_mutex_unlock(&visitors->lock);
}

void visitor_prove(struct visitors *visitors, struct visitor *visitor)
{
    pthread_mutex_lock(&visitors->lock);
    if (!visitor->proven && !visitor->cut) {
        leave(visitors, visitor);
        visitor->proven = true;
    }
    pthread_mutex_unlock(&visitors->lock);
}
