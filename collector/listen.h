/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP and HTTPS: POST /v1/batches, GET /healthz, /readyz, /metrics. The threads of the network
 * read and write only; whatever asks PostgreSQL is a task of the pool, its connection suspended
 * meanwhile.
 */
#ifndef UNBLEND_COLLECTOR_LISTEN_H
#define UNBLEND_COLLECTOR_LISTEN_H

#include "collector/pool.h"

struct listener;

/*
 * Serves a listening socket, which becomes the listener's. certificate and key are PEM texts that
 * must live as long; NULL for plain HTTP. 0 or -errno (logged).
 */
int listen_start(int fd, const char *certificate, const char *key, struct pool *pool,
                 struct listener **out);

/* Takes no more connections, lets requests under way finish for some seconds, stops the pool, and
   ends. NULL is fine. */
void listen_stop(struct listener *listener);

#endif
