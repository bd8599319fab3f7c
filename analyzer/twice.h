/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which batches each of several recordings held: what two of them hold, a copy and what it was made of say, or one of
 * them twice, would count twice; and which batches were said to have been dropped. A batch is known by its cluster,
 * node, stream and number, as in the collector's ledger; numbers are kept as runs, so memory depends on how many
 * streams there are and not on how long they are.
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

/* Takes note that the input holds that batch. 0; 1 when one holds it already, whose number goes to *other, the same or
   another one's; or -ENOMEM. Batches without a stream are not looked at. */
int twice_look(struct twice *twice, unsigned input, const struct batch *batch, unsigned *other);

/* Takes note of a range that a batch says was dropped; *known: how many of it had been said before. 0 or -ENOMEM. */
int twice_dropped(struct twice *twice, const struct batch *batch, const struct dropped *range, uint64_t *known);

void twice_clear(struct twice *twice);

#endif
