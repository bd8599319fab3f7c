/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drain's rooms: all sources one after the other (drain.c), what the rows have counted (drain_rows.c), and whose
   that is (drain_owner.c). */
#ifndef UNBLEND_PROBE_DRAIN_PRIVATE_H
#define UNBLEND_PROBE_DRAIN_PRIVATE_H

#include "probe/bpf/configabi.h"
#include "probe/detail.h"
#include "probe/drain.h"
#include "probe/flight.h"
#include "probe/opened.h"
#include "probe/passed.h"
#include "probe/shared.h"
#include "probe/slots.h"
#include "probe/sparse.h"

struct drain {
    struct drain_sources from;
    struct sparse rows, pages_low, pages_high; /* what was seen last: drain_rows.c */
    struct details *details;
    struct shared_rows *shared;
    struct slots *slots;
    struct bursts *bursts;
    struct hung *hung;
    struct flight *flight;
    struct opened *opened;
    struct passed passed;
    int64_t slot; /* of the last drain */
    uint64_t counters[ABI_COUNTERS];
    enum grain grain;
    uint64_t since_ns; /* calls that began before are not waited for */
    int64_t boot_to_wall_ns;
};

/* Room for what is seen of rows and pages, of which nothing has been yet. 0 or -ENOMEM; drain_rows_close() follows in
   any case. */
int drain_rows_open(struct drain *drain);
void drain_rows_close(struct drain *drain);
void drain_rows_tidy(struct drain *drain); /* see probe/sparse.h */

/* Whether there is more in a row than was seen of it. */
bool drain_row_changed(const struct drain *drain, uint32_t index);

/* What was seen of a row; the drain is the context. */
void drain_row_seen(void *context, uint32_t index, struct increase *increase);

/* Adds what a row has counted since last time, to that process and job of the batch. 0 or -errno. */
int drain_row(struct drain *drain, uint32_t index, enum operation op, const struct drain_target *to);

/* Gives back a dead thread with its rows; they have been drained. */
void drain_recycle(struct drain *drain, uint32_t index);

/* The batch's entry for a process, or for a thread of it (0: none), and its job; made when something turns up that it
   has done. *process stays as it is where the grain is jobs. 0 or -errno. */
int drain_process(struct drain *drain, uint32_t index, uint32_t tid, struct batch *batch, uint32_t *process,
                  uint32_t *job);

/* The batch's record of an operation of a thread (0: of its process) on a volume. 0 or -errno. */
int drain_series(struct drain *drain, uint32_t index, uint32_t tid, uint64_t volume_key, enum operation op,
                 struct batch *batch, struct record **record);

/* These are called back, with the drain as their context; results as above. */
int drain_process_series(void *context, uint32_t index, uint64_t volume_key, enum operation op, struct batch *batch,
                         struct record **record);
int drain_file_owner(void *context, const struct abi_file_told *told, struct batch *batch, struct opened_by *owner);
int drain_tree_owner(void *context, const struct abi_tree_key *key, struct batch *batch, uint32_t *job,
                     uint32_t *volume);
/* Whether nobody counts in it any more: its process is gone, or its job has long been. */
bool drain_tree_gone(void *context, const struct abi_tree_key *key);

#endif
