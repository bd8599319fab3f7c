/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flow is what one job asked of one volume in one interval, by slots of 100 ms that are aligned to the wall
 * clock: the same slot number is the same tenth of a second on every node. Of a series of batches the slots' sums
 * equal the records' counts, demand by demand; an operation belongs to the slot in which it ended.
 *
 * A slot is in a burst when its demand is at least the burst factor times the mean of the job's slots on that
 * volume over the last minute, idle ones included. The latency of what ended in such slots is kept apart from the
 * rest, at a resolution of octaves (every eighth bucket). Operations that were counted under a coarser key for want
 * of room are in neither.
 *
 * A zeroed struct is an empty flow; flow_clear() gives its memory back.
 */
#ifndef UNBLEND_LIB_FLOW_H
#define UNBLEND_LIB_FLOW_H

#include <stddef.h>

#include "lib/demand.h"
#include "lib/histogram.h"
#include "lib/sketch.h"

#define FLOW_SLOT_MS   100
#define FLOW_SLOTS_MAX 40000 /* an hour, and some */

/* What bursts are told apart by: bytes moved, for reads and writes; how many there are, for metadata operations. */
enum flow_kind { FLOW_DATA, FLOW_METADATA, FLOW_KINDS };

struct flow {
    uint32_t job;    /* index into jobs */
    uint32_t volume; /* index into volumes */
    int64_t first;   /* number of the first slot: it starts first * FLOW_SLOT_MS after 1970 */
    uint32_t length, capacity;
    struct demand_slot *slots; /* none without a length */
    struct histogram burst[FLOW_KINDS], steady[FLOW_KINDS]; /* latencies, ns */
    uint32_t in_flight_max[OP_FILE_END]; /* the most that were seen running at once; of all kinds at [OP_NONE] */
    struct sketch files; /* regular files that were opened or made; one is said again after some ten minutes only */
};

/*
 * Adds to a slot. One that is farther from the others than FLOW_SLOTS_MAX (a clock was set) is counted in the nearest
 * that is not. 0, -ENOMEM, or -ERANGE for a sum beyond 2^63 - 1; unchanged on failure.
 */
int flow_add(struct flow *flow, int64_t slot, const struct demand_slot *amount);

/*
 * Adds an amount evenly over slots first to last, to the last unit: what was counted without its time. As flow_add().
 */
int flow_spread(struct flow *flow, int64_t first, int64_t last, const struct demand_slot *amount);

/* Adds src to dst, keys untouched. 0, -ENOMEM or -ERANGE. */
int flow_merge(struct flow *dst, const struct flow *src);

void flow_clear(struct flow *flow);

/* The octave's lowest bucket, which stands for it. */
static inline unsigned flow_octave_bucket(unsigned octave)
{
    return octave * BUCKET_SUB;
}

#endif
