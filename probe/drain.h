/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables -> records: the only reader of rows. Counters only grow, so what has happened is the difference to what
 * was seen last; rows of dead threads are read a last time and given back.
 */
#ifndef UNBLEND_PROBE_DRAIN_H
#define UNBLEND_PROBE_DRAIN_H

#include "lib/record.h"
#include "probe/finder.h"
#include "probe/origin.h"
#include "probe/tables.h"
#include "probe/trees.h"
#include "probe/volume.h"

struct drain;

struct drain_sources {
    struct tables *tables;
    struct volumes *volumes;
    struct origin *origin;
    struct finder *finder;
    struct trees *trees; /* NULL: nobody asks for them */
    int shared_map; /* shared rows and the last resort behind them */
    int last_map;
    int slots_map; /* slots that are over, and when slots begin */
    int phase_map;
    uint64_t burst_factor;
    int async_map; /* requests under way */
    int told_map;  /* files that were opened */
};

/* 0 or -errno; the sources must outlive the drain. */
int drain_new(const struct drain_sources *sources, struct drain **out);
void drain_free(struct drain *drain); /* NULL is fine */

/* Whom records are told apart by (processes at first), and since when calls under way have been seen to begin
   (CLOCK_MONOTONIC; UINT64_MAX: none are seen). */
void drain_set_grain(struct drain *drain, enum grain grain, uint64_t since_ns);

/* Additions to the page cache are seen, and have been since before the first read was: reads without any are known. */
void drain_know_cache(struct drain *drain);

/* Between drains, ten times a second: takes over what would overflow, and looks what is in flight. 0 or -errno. */
int drain_look(struct drain *drain);

/* Adds the differences to the batch, and to its coverage what the tables know of it; a batch may be drained into more
   than once, and then shows what is in flight now. 0 or -errno. */
int drain_run(struct drain *drain, struct batch *batch);

#endif
