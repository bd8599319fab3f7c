/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP and HTTPS, started and stopped; what is asked for is route.h's. The threads of the network read and write only;
 * whatever asks PostgreSQL is a task of the pool, its connection suspended meanwhile.
 */
#ifndef UNBLEND_COLLECTOR_LISTEN_H
#define UNBLEND_COLLECTOR_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/pool.h"

struct listener;

struct listen_options {
    bool is_tls;                   /* with what identity.h shows; else plain HTTP */
    /* PEM text that must live as long: who comes with a token needs a certificate of these, too; NULL: not */
    const char *client_ca;
    uint64_t node_rate;            /* requests a second of each node; 0: no limit */
};

/* Serves a listening socket, which becomes the listener's; bodies that may go together are for the writers. 0 or -errno
   (logged). */
int listen_start(int fd, const struct listen_options *options, struct pool *pool, struct pool *writers,
                 struct listener **out);

/* The database is set up: from now on, /readyz depends on whether it answers alone. */
void listen_ready(struct listener *listener);

/* Takes no more connections, lets requests under way finish for some seconds, stops the pools, and
   ends. NULL is fine. */
void listen_stop(struct listener *listener);

#endif
