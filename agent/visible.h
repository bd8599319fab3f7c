/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an unprivileged caller may see of a batch: their own processes, and the node's totals. */
#ifndef UNBLEND_AGENT_VISIBLE_H
#define UNBLEND_AGENT_VISIBLE_H

#include "lib/record.h"

/* A copy in which everybody else's processes and jobs are summed up as one job, "(others)". 0 or -errno. */
int visible_batch(const struct batch *batch, uint32_t uid, struct batch **out);

#endif
