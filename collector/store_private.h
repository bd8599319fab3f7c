/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by store.c, store_batch.c, store_trust.c and dimension.c only. */
#ifndef UNBLEND_COLLECTOR_STORE_PRIVATE_H
#define UNBLEND_COLLECTOR_STORE_PRIVATE_H

#include "collector/copy.h"
#include "collector/db.h"
#include "collector/dimension_cache.h"
#include "collector/store.h"

struct store {
    struct db db;
    char *conninfo;
    struct copy batches, samples, flows, pending; /* of the transaction that is open */
    struct copy room; /* to work in */
    struct dimension_cache dimensions;
    bool checked;        /* this connection has seen our schema */
};

/* Connects if need be, to a database of ours. Results of db.h. */
int store_prepare(struct store *store);

#endif
