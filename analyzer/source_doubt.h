/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nodes told and none can have done: a database may have it of earlier collectors. */
#ifndef UNBLEND_ANALYZER_SOURCE_DOUBT_H
#define UNBLEND_ANALYZER_SOURCE_DOUBT_H

#include "lib/record.h"

/* Nodes that were doubted already. A zeroed struct has none. */
struct doubts {
    char **names; /* of cluster and node */
    uint32_t count, capacity;
};

/* Leaves out what would leave nobody a sum (lib/plausible.h), and names each such node once. 0 or -ENOMEM. */
int doubts_look(struct doubts *doubts, struct batch *batch);

void doubts_clear(struct doubts *doubts);

#endif
