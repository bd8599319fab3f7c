/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Details -> records: what the programs keep beside their rows. Errors by errno, what the page cache did for reads,
 * page faults by kind, what of the bytes written had come from the network. Counters only grow, as in rows.
 */
#ifndef UNBLEND_PROBE_DETAIL_H
#define UNBLEND_PROBE_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record.h"
#include "probe/tables.h"
#include "probe/volume.h"

struct details;

/* Where what a thread has done goes. */
struct drain_target {
    struct batch *batch;
    uint32_t process, job; /* in the batch */
    uint32_t owner;        /* its process's place in the table */
};

/* The tables and volumes must outlive it. 0 or -errno. */
int details_new(struct tables *tables, struct volumes *volumes, struct details **out);
void details_tidy(struct details *details); /* see probe/sparse.h */
void details_free(struct details *details); /* NULL is fine */

/* From the first read on, additions to the page cache are seen; without this no hits and misses are handed out. */
void details_know_cache(struct details *details);

/* Whether the thread has details that changed since they were drained. */
bool details_changed(const struct details *details, const struct abi_thread *thread);

/* Adds what has changed, and the hits among the thread's reads, whose rows have been drained. 0 or -errno. */
int details_drain(struct details *details, const struct abi_thread *thread, const struct drain_target *target);

/* The row with that index is given back. */
void details_forget(struct details *details, uint32_t row);

#endif
