/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one request carries: the oldest batch, or many as JSON lines when the collector is to be caught up with. */
#ifndef UNBLEND_AGENT_BODY_H
#define UNBLEND_AGENT_BODY_H

#include <stdlib.h>

#include "agent/spool.h"

#define BODY_BATCHES 64

struct body {
    void *data; /* zstd */
    size_t size;
    uint64_t places[BODY_BATCHES]; /* in the spool */
    unsigned count;
};

/* Takes the oldest batches that may be sent now, at most so many. 1 with the body; 0 when there are none, with
   *wait_ms as spool_next() tells; or -errno. */
int body_gather(struct spool *spool, unsigned most, struct body *out, unsigned *wait_ms);

static inline void body_clear(struct body *body)
{
    free(body->data);
}

#endif
