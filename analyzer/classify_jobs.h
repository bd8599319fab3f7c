/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profiles of all jobs, by every processor: a job that is a sum takes some hundredths of a second, and a day may have thousands. */
#ifndef UNBLEND_ANALYZER_CLASSIFY_JOBS_H
#define UNBLEND_ANALYZER_CLASSIFY_JOBS_H

#include "analyzer/classify.h"

/* Of sorted totals, in the order of their jobs: lists[totals->job_count], empty so far, each to be cleared whatever is returned.
   0, -ENOMEM or -ERANGE. */
int classify_jobs(const struct catalogue *catalogue, const struct aggregate *totals, struct profile_list *lists);

#endif
