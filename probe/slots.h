/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows' slots -> flows: what a row counted in which tenth of a second. The kernel side hands out what a row had
 * counted when a slot of it was over; the rest belongs to the slot that the row is in. Both only grow, so each
 * operation is in exactly one slot, whatever is read when, and the slots' sums equal the row's counts.
 */
#ifndef UNBLEND_PROBE_SLOTS_H
#define UNBLEND_PROBE_SLOTS_H

#include <stdbool.h>

#include "lib/record.h"
#include "probe/bpf/abi.h"
#include "probe/bursts.h"
#include "probe/change.h"

struct slots;

/* What a row had counted when it was last added. */
typedef void slots_added(void *context, uint32_t row, struct increase *increase);

/* The ring of finished slots and the slots' phase are maps; rows: how many there are. 0 or -errno. */
int slots_new(int ring_map, int phase_map, uint32_t rows, slots_added *added, void *context, struct slots **out);
void slots_tidy(struct slots *slots); /* see probe/sparse.h */
void slots_free(struct slots *slots); /* NULL is fine */

/* Takes over what the ring holds, and follows the wall clock: often enough that the ring does not overflow. 0 or
   -errno. */
int slots_collect(struct slots *slots);

/* Whether slots of that row have been taken over and not added yet. */
bool slots_waiting(const struct slots *slots, uint32_t row);

/* A row as read at one moment: its counts and the slot that they end in. */
struct slots_row {
    uint64_t bytes, slot_end_ns;
    uint32_t ops;
};

/* Takes over what the ring holds, and reads the row. */
struct slots_row slots_read(struct slots *slots, const volatile struct abi_row *row);

/*
 * Adds what a row counted since it was last added to the flow of a job and volume, and its latencies to bursts. news:
 * all of that, as of slots_read(), and latencies of that moment or a later one; the last of it in the slot that ends at
 * slot_end_ns. What cannot be added is in no slot. 0 or -errno.
 */
int slots_add(struct slots *slots, uint32_t index, uint64_t slot_end_ns, enum operation op, const struct increase *news,
              uint32_t job, uint32_t volume, struct batch *batch, struct bursts *bursts);

/* The row is given back: it will begin at 0 again. */
void slots_forget(struct slots *slots, uint32_t row);

/* Number of the slot that the wall clock is in. */
int64_t slots_now(const struct slots *slots);

#endif
