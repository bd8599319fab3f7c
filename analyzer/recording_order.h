/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording's frames in the order of their batches' beginnings. They stand in it as they were written, and a clock
 * that was set back, or several nodes in one file, make that another one. Where both are the same, as nearly always,
 * nothing is kept; else it takes 24 bytes a frame.
 */
#ifndef UNBLEND_ANALYZER_RECORDING_ORDER_H
#define UNBLEND_ANALYZER_RECORDING_ORDER_H

#include "lib/recording.h"

/* Where a frame, or damage, begins. */
struct frame_place {
    int64_t start_ns; /* of damage, and of what holds no batch: of the one before it */
    uint64_t offset;
    uint32_t number; /* in the file, from 1 on */
};

/* Zeroed: as they are written. */
struct recording_order {
    struct frame_place *list; /* NULL: as they are written */
    uint32_t count, capacity, next;
};

/* Reads the file through, as far as that takes, and goes back to its first frame. 0 or -errno. */
int recording_order_find(struct recording_order *order, struct recording_reader *reader);

/* The next frame's batch, and its place. As recording_read(). */
int recording_order_read(struct recording_order *order, struct recording_reader *reader, struct batch **out,
                         struct frame_place *place, struct codec_error *error);

void recording_order_clear(struct recording_order *order);

#endif
