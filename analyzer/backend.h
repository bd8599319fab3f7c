/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The storage side of a report: batches in, totals out, by node, layer and volume: devices, file systems' servers and
 * clients, platforms. What the parties asked for is kept apart.
 */
#ifndef UNBLEND_ANALYZER_BACKEND_H
#define UNBLEND_ANALYZER_BACKEND_H

#include "lib/arena.h"
#include "lib/lookup.h"
#include "lib/record.h"

/* What one party asked for; of PARTY_SERVER, who serves. */
struct party_total {
    enum party party;
    const char *job, *server; /* or NULL */
    struct station requests[REQUESTS];
};

struct backend {
    const char *cluster, *node, *volume, *source, *fstype;
    enum layer layer;
    struct party_total *parties; /* in the order of their names when sorted */
    uint32_t party_count, party_capacity;
    struct station requests[REQUESTS]; /* of all parties; [REQUEST_ALL]: in flight */
    int64_t last_ns;                   /* of what is in flight: the end of the interval that told */
};

struct backends {
    struct backend *list;
    uint32_t count, capacity;
    struct lookup index;   /* by volume and node */
    struct lookup by_node;
};

/* Adds what a batch has; strings go to the arena. 0, -ENOMEM or -ERANGE. */
int backends_add(struct backends *backends, struct arena *arena, const struct batch *batch);

/* When all is added: by layer, volume and node. */
void backends_sort(struct backends *backends);
void backends_clear(struct backends *backends);

/* The mean of how many were in flight: NAN when nobody knows. */
double backend_depth(const struct backend *backend, int64_t span_ns);

#endif
