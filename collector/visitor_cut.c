/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "collector/metrics.h"
#include "collector/refusal.h"
#include "collector/visitor_private.h"
#include "lib/clock.h"

#define SWEEP_MS     250
#define QUIET_MS     3000
#define STUCK_SWEEPS (2000 / SWEEP_MS)

/* The library then finds it closed. */
static void cut(struct visitors *visitors, struct visitor *visitor)
{
    static const char answer[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

    if (!visitors->tls && send(visitor->fd, answer, sizeof(answer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        metrics_answer(408);
    shutdown(visitor->fd, SHUT_RDWR);
    visitor->cut = true;
    visitor_leave(visitors, visitor);
}

/* What came of it has been read, and it is its turn to go on. */
static bool waits_for_client(const struct visitor *visitor)
{
    int unread = 0;

    return !visitor->busy && ioctl(visitor->fd, FIONREAD, &unread) == 0 && unread == 0;
}

static bool is_late(const struct visitor *visitor)
{
    return !visitor->busy && visitor->deadline_ms <= monotonic_ms();
}

static bool is_quiet(const struct visitor *visitor)
{
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t length = sizeof(info);

    return waits_for_client(visitor) && getsockopt(visitor->fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           info.tcpi_last_data_recv >= QUIET_MS;
}

/* Those that are so, at most so many, the oldest first; how many there were. */
static unsigned cut_those(struct visitors *visitors, bool (*are)(const struct visitor *), unsigned most,
                          char address[64])
{
    unsigned number = 0;

    for (struct visitor *visitor = visitors->list.next, *next; visitor != &visitors->list && number < most;
         visitor = next) {
        next = visitor->next;
        if (!are(visitor))
            continue;
        strcpy(address, visitor->address);
        cut(visitors, visitor);
        number++;
    }
    return number;
}

/* Those who keep others out, when nobody has shown a token for a while. */
static unsigned cut_crowd(struct visitors *visitors, char address[64])
{
    unsigned number;

    if (!visitors->is_awaited || visitors_have_room(visitors))
        visitors->stuck = 0;
    else if (++visitors->stuck >= STUCK_SWEEPS) {
        visitors->stuck = 0;
        number = cut_those(visitors, is_quiet, visitors->count, address);
        return number ? number : cut_those(visitors, waits_for_client, visitors->count / 2, address);
    }
    return 0;
}

static void say(unsigned number, const char *address, const char *why)
{
    char what[64];

    snprintf(what, sizeof(what), number == 1 ? "a connection" : "%u connections, the last", number);
    if (number)
        refusal_log(address, 0, what, "", why);
}

void *visitors_sweep(void *context)
{
    struct visitors *visitors = context;

    pthread_mutex_lock(&visitors->lock);
    while (!visitors->is_ending) {
        struct timespec until;
        char address[64], crowd_address[64];
        unsigned late = cut_those(visitors, is_late, visitors->count, address);
        unsigned crowd = cut_crowd(visitors, crowd_address);

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
