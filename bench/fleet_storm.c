/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All nodes at once, from one thread: what a collector sees when the network or it itself comes back. One thread cannot
 * shake ten thousand hands at the same moment as their owners would: of those under way it has a number at most, the
 * others wait as if in the network, and the clock of all of them runs from the beginning.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/fleet.h"
#include "lib/clock.h"

#define EVENTS      256
#define COME_AGAIN_S 2 /* at least, to twice as long: nobody comes again at the same moment as all others */

struct loop {
    CURLM *multi;
    int epoll;
    int64_t timer_ms; /* monotonic; -1: none */
};

/* Those who wait to come again. */
struct waiting {
    CURL *curl;
    int64_t at_ms;
};

static int on_socket(CURL *curl, curl_socket_t fd, int what, void *context, void *known)
{
    struct loop *loop = context;
    struct epoll_event event = {.data.fd = fd};

    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    epoll_ctl(loop->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    curl_multi_assign(loop->multi, fd, loop);
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *context)
{
    struct loop *loop = context;

    loop->timer_ms = ms < 0 ? -1 : monotonic_ms() + ms;
    return 0;
}

/* Who was answered, and who comes again: how many are done. */
static uint64_t settle(struct loop *loop, const struct settings *settings, struct tally *tally, int64_t begin_ns,
                       struct waiting *waiting, uint64_t *waits)
{
    uint64_t done = 0;
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(loop->multi, &left))) {
        CURL *curl = message->easy_handle;
        long status = 0;

        if (message->data.result == CURLE_OK)
            curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        tally->status[status > 0 && status < STATUSES ? status : 0]++;
        curl_multi_remove_handle(loop->multi, curl);
        if (status == 200) {
            (void)histogram_add(&tally->latency, (uint64_t)(monotonic_ns() - begin_ns), 1);
            tally->batches += settings->together;
            done++;
        } else {
            waiting[(*waits)++] =
                (struct waiting){curl, monotonic_ms() + COME_AGAIN_S * 1000 + random() % (COME_AGAIN_S * 1000)};
        }
    }
    return done;
}

static void come_again(struct loop *loop, struct waiting *waiting, uint64_t *waits)
{
    int64_t now = monotonic_ms();

    for (uint64_t i = 0; i < *waits;)
        if (waiting[i].at_ms <= now) {
            curl_multi_add_handle(loop->multi, waiting[i].curl);
            waiting[i] = waiting[--*waits];
        } else {
            i++;
        }
}

static void turn(struct loop *loop)
{
    struct epoll_event events[EVENTS];
    int64_t wait = loop->timer_ms < 0 ? 100 : loop->timer_ms - monotonic_ms();
    int running, count = epoll_wait(loop->epoll, events, EVENTS, wait < 0 ? 0 : wait > 100 ? 100 : (int)wait);

    for (int i = 0; i < count; i++)
        curl_multi_socket_action(loop->multi, events[i].data.fd,
                                 (events[i].events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
                                     (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                                     (events[i].events & EPOLLERR ? CURL_CSELECT_ERR : 0),
                                 &running);
    if (loop->timer_ms >= 0 && monotonic_ms() >= loop->timer_ms) {
        loop->timer_ms = -1;
        curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
}

int storm(const struct settings *settings, struct node *nodes, struct tally *tally)
{
    struct waiting *waiting = calloc(settings->nodes, sizeof(*waiting));
    struct loop loop = {curl_multi_init(), epoll_create1(EPOLL_CLOEXEC), -1};
    const int64_t begin_ns = monotonic_ns();
    uint64_t begun = 0, done = 0, waits = 0;

    if (!waiting || !loop.multi || loop.epoll < 0) {
        fprintf(stderr, "fleet: out of memory\n");
        free(waiting);
        return 1;
    }
    curl_multi_setopt(loop.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(loop.multi, CURLMOPT_SOCKETDATA, &loop);
    curl_multi_setopt(loop.multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(loop.multi, CURLMOPT_TIMERDATA, &loop);
    curl_multi_setopt(loop.multi, CURLMOPT_MAXCONNECTS, (long)settings->nodes); /* they stay connected */
    while (done < settings->nodes) {
        for (; begun < settings->nodes && begun - done - waits < settings->threads; begun++) {
            curl_easy_setopt(nodes[begun].curl, CURLOPT_FRESH_CONNECT, 1L); /* no node takes another's connection */
            curl_multi_add_handle(loop.multi, nodes[begun].curl);
        }
        turn(&loop);
        done += settle(&loop, settings, tally, begin_ns, waiting, &waits);
        come_again(&loop, waiting, &waits);
    }
    free(waiting);
    return 0;
}
