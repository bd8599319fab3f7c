/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by listen.c and route.c only. */
#ifndef UNBLEND_COLLECTOR_LISTEN_PRIVATE_H
#define UNBLEND_COLLECTOR_LISTEN_PRIVATE_H

#include <stdatomic.h>
#include <time.h>

#include "collector/door.h"
#include "collector/limit.h"
#include "collector/listen.h"
#include "collector/visitor.h"
#include "lib/clock.h"

#define KNOWN 16384u

struct listener {
    struct MHD_Daemon *daemon;
    struct pool *pool, *writers;
    struct visitors *visitors;
    struct door *door;
    struct limit *nodes;    /* requests of those who have a token */
    struct limit *failures; /* wrong tokens of an address */
    struct limit *others;   /* requests that need none, of an address */
    bool is_tls, wants_certificates;
    atomic_uint active; /* requests */
    atomic_bool ready;  /* see listen_ready() */
    /* Tokens that were good lately, by a part of their hash: they are asked about even when others of the same address
       try tokens at random. Whether they are good now says the database, each time. */
    atomic_uint_fast64_t known[KNOWN];
};

static inline time_t listen_now(void)
{
    return (time_t)(monotonic_ns() / 1000000000);
}

#endif
