/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which profiles a job's I/O is made of. Every process is unmixed by itself where the records carry
 * processes, otherwise the job's totals are; parts are then added up. What no profile explains is
 * `unknown`. Shares of a kind add up to 1, bytes follow the operations that moved them. Names,
 * paths and commands play no part.
 */
#ifndef UNBLEND_ANALYZER_CLASSIFY_H
#define UNBLEND_ANALYZER_CLASSIFY_H

#include "analyzer/aggregate.h"
#include "analyzer/catalogue.h"
#include "analyzer/profile_list.h"

/* What was not seen makes findings less sure: confidence is lowered and the evidence names each hook that is missing
   where the job ran, and whose operations a profile is told by. Of sorted totals. 0 or -ENOMEM. */
int classify_gaps(const struct aggregate *totals, const struct job_total *job, struct profile_list *list);

/* With `draws`, shares that come of an unmixed sum have intervals, of 95 %; they are dear, and shares that were counted
   process by process need none. 0, -ENOMEM or -ERANGE. */
int classify_job(const struct catalogue *catalogue, const struct job_total *job, bool draws,
                 struct profile_list *out);

struct judged;

/* The same of a volume that stands for a job, whose processes have been judged (analyzer/homes.h). What that holds is spoilt. */
int classify_volume(const struct catalogue *catalogue, const struct job_total *volume, struct judged *judged, bool draws,
                    struct profile_list *out);

#endif
