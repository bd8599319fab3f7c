/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes of a job are the two ends of a pipe, as in `tar -cf - data | zstd > packed`: one that only reads and
 * one that only writes, neither makes durable (fsync) nor renames, started by the same shell at once, and done together.
 * Seen alone, neither says what the two do. One that writes just as many bytes into just as many files as the other reads
 * may rename them, as rsync does; and then it may have somebody who looks, a name for each file, at what is there.
 */
#ifndef UNBLEND_ANALYZER_PIPES_H
#define UNBLEND_ANALYZER_PIPES_H

#include "analyzer/aggregate.h"

/*
 * out[job->unit_count], malloc'ed: of each unit, the `process` of the one that reads at its end of a pipe; its own
 * process, where it is at none. 0 or -ENOMEM.
 */
int pipes_of(const struct job_total *job, uint32_t **out);

#endif
