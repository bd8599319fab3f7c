/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/visitor.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "collector/refusal.h"
#include "collector/visitor_private.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/thread.h"

#define NONSENSE_BYTES 8 /* more than these came */

bool visitors_have_room(const struct visitors *visitors)
{
    return visitors->count + visitors->entering < UNPROVEN_MAX;
}

void visitor_leave(struct visitors *visitors, struct visitor *visitor)
{
    visitor->before->next = visitor->next;
    visitor->next->before = visitor->before;
    visitors->count--;
    pthread_cond_signal(&visitors->room);
}

/* To its end. */
static void join(struct visitors *visitors, struct visitor *visitor)
{
    visitor->next = &visitors->list;
    visitor->before = visitors->list.before;
    visitor->before->next = visitor->next->before = visitor;
    visitors->count++;
}

int visitors_new(bool tls, struct visitors **out)
{
    struct visitors *visitors = calloc(1, sizeof(*visitors));
    int err;

    if (!visitors)
        return -ENOMEM;
    thread_condition(&visitors->ending);
    pthread_cond_init(&visitors->room, NULL);
    pthread_mutex_init(&visitors->lock, NULL);
    visitors->list.next = visitors->list.before = &visitors->list;
    visitors->tls = tls;
    err = thread_start(&visitors->sweeper, visitors_sweep, visitors);
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
    pthread_cond_destroy(&visitors->room);
    pthread_mutex_destroy(&visitors->lock);
    free(visitors);
}

bool visitors_await_room(struct visitors *visitors)
{
    bool is_shut;

    pthread_mutex_lock(&visitors->lock);
    while (!visitors->is_shut && !visitors_have_room(visitors)) {
        visitors->is_awaited = true;
        pthread_cond_wait(&visitors->room, &visitors->lock);
    }
    visitors->is_awaited = false;
    is_shut = visitors->is_shut;
    if (!is_shut)
        visitors->entering++;
    pthread_mutex_unlock(&visitors->lock);
    return !is_shut;
}

void visitors_gave_up(struct visitors *visitors)
{
    pthread_mutex_lock(&visitors->lock);
    visitors->entering--;
    pthread_mutex_unlock(&visitors->lock);
}

void visitors_shut(struct visitors *visitors)
{
    pthread_mutex_lock(&visitors->lock);
    visitors->is_shut = true;
    pthread_cond_signal(&visitors->room);
    pthread_mutex_unlock(&visitors->lock);
}

unsigned visitors_count(struct visitors *visitors)
{
    unsigned count;

    pthread_mutex_lock(&visitors->lock);
    count = visitors->connections + visitors->entering;
    pthread_mutex_unlock(&visitors->lock);
    return count;
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
        visitor_leave(visitors, visitor);
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

/* With a visitor, if there was memory for one, or without. */
static void count(struct visitors *visitors, bool comes)
{
    pthread_mutex_lock(&visitors->lock);
    visitors->connections += comes ? 1 : -1u;
    if (comes && visitors->entering) /* the place that was kept for it */
        visitors->entering--;
    pthread_mutex_unlock(&visitors->lock);
}

void visitors_notify(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        arrive(context, connection, slot);
    else
        depart(context, slot);
    count(context, code == MHD_CONNECTION_NOTIFY_STARTED);
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
        visitor_leave(visitors, visitor);
        visitor->proven = true;
        visitors->stuck = 0;
    }
    pthread_mutex_unlock(&visitors->lock);
}
