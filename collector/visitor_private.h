/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by visitor.c and visitor_cut.c only. */
#ifndef UNBLEND_COLLECTOR_VISITOR_PRIVATE_H
#define UNBLEND_COLLECTOR_VISITOR_PRIVATE_H

#include <pthread.h>
#include <stdint.h>

#include "collector/visitor.h"

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
    pthread_cond_t ending, room;
    pthread_t sweeper;
    struct visitor list; /* its head; the oldest first */
    unsigned count;
    unsigned entering, connections;
    unsigned said; /* of the library's thread alone */
    bool tls, is_ending, is_shut;
    bool is_awaited; /* room, by somebody at the door */
    unsigned stuck;  /* sweeps that saw it so, since somebody has shown a token */
};

/* Whether one more may come in. With the lock, as all of these. */
bool visitors_have_room(const struct visitors *visitors);

/* Out of the list: it has shown a token, or is gone. */
void visitor_leave(struct visitors *visitors, struct visitor *visitor);

/* The thread that cuts off those whose time is over, and those who keep others out; the visitors are its context. */
void *visitors_sweep(void *context);

#endif
