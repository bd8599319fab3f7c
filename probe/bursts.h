/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells bursts from the rest, by the definition of lib/flow.h: the drain gathers what ended in each slot, and at its
 * end each slot is judged by the last minute of its job and volume, this drain included.
 */
#ifndef UNBLEND_PROBE_BURSTS_H
#define UNBLEND_PROBE_BURSTS_H

#include "lib/record.h"
#include "probe/bpf/abi.h"

#define BURSTS_MEMORY_S 60 /* seconds that the mean is taken over */

struct bursts;

/* factor: how many times the mean a slot of a burst has at least, 1 or more. 0 or -ENOMEM. */
int bursts_new(uint64_t factor, struct bursts **out);
void bursts_free(struct bursts *bursts); /* NULL is fine */

/* Adds the latencies of operations that ended in a slot, and their demand; flow: index into the batch's flows, which
   is the same batch until bursts_judge(). 0 or -ENOMEM. */
int bursts_add(struct bursts *bursts, uint32_t flow, int64_t slot, enum operation op,
               const struct demand_slot *amount, const uint32_t octaves[ABI_OCTAVES]);

/* Puts what was gathered into the flows' histograms and forgets it; now: the number of the slot that it is. 0 or
   -ENOMEM. */
int bursts_judge(struct bursts *bursts, struct batch *batch, int64_t now);

#endif
