/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of lib/record.h share: how a batch finds what it has, and how it grows. */
#ifndef UNBLEND_LIB_RECORD_PRIVATE_H
#define UNBLEND_LIB_RECORD_PRIVATE_H

#include "lib/lookup.h"
#include "lib/record.h"

struct batch_index {
    struct lookup jobs, volumes, processes, records, flows, stations, trees;
    uint32_t job_capacity, volume_capacity, process_capacity, record_capacity, flow_capacity,
        station_capacity, tree_capacity;
};

/* Room for one more element of a table and of its index. 0 or -ENOMEM. */
int batch_make_room(void **array, uint32_t *capacity, uint32_t count, size_t size, struct lookup *lookup);

/* Empties a batch of its records, flows, stations and trees; their room stays. */
void batch_forget_counts(struct batch *batch);

/* A copy that can be encoded, in the batch's arena; NULL without memory. Names are keys, so they are repaired on the
   way in: two that look the same on the wire are the same here, too. */
const char *batch_copy_text(struct batch *batch, const char *value);

#endif
