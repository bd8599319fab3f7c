/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last minute of a flow, by tenths of a second, and its latencies in bursts and outside of them since the start. */
#ifndef UNBLEND_ANALYZER_TOP_PULSE_H
#define UNBLEND_ANALYZER_TOP_PULSE_H

#include "lib/flow.h"

#define PULSE_SLOTS 600

/* Slot n stands at [n % PULSE_SLOTS], for the last of them up to newest. */
struct pulse {
    int64_t first, newest;
    float bytes[PULSE_SLOTS], metadata[PULSE_SLOTS];
    struct histogram burst, steady; /* data and metadata together */
};


/* NULL without memory. */
struct pulse *pulse_new(void);
void pulse_free(struct pulse *pulse); /* NULL is fine */

/* Takes in what the flow has, up to the slot in which an interval ended. 0, -ENOMEM or -ERANGE. */
int pulse_add(struct pulse *pulse, const struct flow *flow, int64_t end_slot);
/* Nothing was asked up to that slot. */
void pulse_idle(struct pulse *pulse, int64_t end_slot);

/* The figures of FIGURE_PEAK to FIGURE_STEADY_P99, in that order. */
void pulse_figures(const struct pulse *pulse, double figures[6]);

#endif
