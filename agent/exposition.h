/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's sums as OpenMetrics text; unblend-agent(8) lists the metrics. */
#ifndef UNBLEND_AGENT_EXPOSITION_H
#define UNBLEND_AGENT_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/totals.h"

/* What the agent knows beside its counts. */
struct exposition_state {
    bool pushes;      /* there is a collector to push to */
    unsigned waiting; /* batches not acknowledged yet */
    bool is_well;     /* what was tried last has worked */
};

/* The text, malloc'ed. 0 or -ENOMEM. */
int exposition_text(const struct totals *totals, const struct exposition_state *state, char **text, size_t *size);

#endif
