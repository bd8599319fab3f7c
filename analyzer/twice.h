/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which batches each of several recordings held: what two of them hold, a copy and what it was made of say, would count
 * twice. A batch is known by its cluster, node, stream and number, as in the collector's ledger; numbers are kept as
 * runs, so memory depends on how many streams there are and not on how long they are.
 */
#ifndef UNBLEND_ANALYZER_TWICE_H
#define UNBLEND_ANALYZER_TWICE_H

#include "lib/lookup.h"
#include "lib/record.h"

#define TWICE_RUNS_MAX 4096 /* of a stream in one input; what lies behind more holes is not looked at */

struct told_stream;

/* Zeroed is empty. */
struct twice {
    struct arena arena;
    struct told_stream *streams;
    uint32_t count, capacity;
    struct lookup index;
};

/* Takes note that the input holds that batch. 0; 1 when another one holds it, too, whose number goes to *other; or
   -ENOMEM. Batches without a stream are not looked at. */
int twice_look(struct twice *twice, unsigned input, const struct batch *batch, unsigned *other);

void twice_clear(struct twice *twice);

#endif
