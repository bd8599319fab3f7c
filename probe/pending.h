/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of io_uring and libaio that are under way -> records' in-flight figures. */
#ifndef UNBLEND_PROBE_PENDING_H
#define UNBLEND_PROBE_PENDING_H

#include "lib/record.h"
#include "probe/bpf/abi.h"

/* A series of the batch: of a process of the probe's table, under its job. 0 or -errno. */
typedef int (*pending_series)(void *context, uint32_t process, uint64_t volume, enum operation op,
                              struct batch *batch, struct record **out);

/* Adds to the batch what is under way at now_ns and was submitted at since_ns or later (both CLOCK_MONOTONIC).
   async_map: descriptor of the map. 0 or -errno. */
int pending_drain(int async_map, uint64_t since_ns, int64_t now_ns, pending_series series, void *context,
                  struct batch *batch);

#endif
