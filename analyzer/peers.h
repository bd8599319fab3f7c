/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes of a job loaded the same on a volume: ranks that read the same weights. */
#ifndef UNBLEND_ANALYZER_PEERS_H
#define UNBLEND_ANALYZER_PEERS_H

#include "analyzer/aggregate.h"
#include "analyzer/behaviour.h"

/* peers[job->unit_count], malloc'ed. 0 or -ENOMEM. */
int peers_of(const struct job_total *job, struct peers **out);

#endif
