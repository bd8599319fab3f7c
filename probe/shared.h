/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared rows -> records: the block layer's, and those of operations that found no row of their own. They
 * are few; each drain reads them all and subtracts.
 */
#ifndef UNBLEND_PROBE_SHARED_H
#define UNBLEND_PROBE_SHARED_H

#include "probe/origin.h"
#include "probe/volume.h"

struct shared_rows;

/* 0 or -ENOMEM. */
int shared_rows_new(int shared_map, int last_map, struct shared_rows **out);
void shared_rows_free(struct shared_rows *rows); /* NULL is fine */

/* Adds the differences to the batch. Slots since and now are those of the last drain and of this one: these rows do
   not tell slots apart, so the demand of file operations is spread over them evenly. 0 or -errno. */
int shared_rows_drain(struct shared_rows *rows, struct volumes *volumes, struct origin *origin, int64_t since,
                      int64_t now, struct batch *batch);

#endif
