/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job waited for: thread-seconds inside operations of the file layer, by what they wait for. A process's reads
 * are small where they move less than WAIT_SMALL on average, as all of a volume's are that belong to no process; other
 * reads, page faults and writes wait for bandwidth.
 */
#ifndef UNBLEND_ANALYZER_WAIT_H
#define UNBLEND_ANALYZER_WAIT_H

#include "analyzer/aggregate.h"

#define WAIT_SMALL 65536

struct wait {
    double metadata_s, small_reads_s, bandwidth_s, fsync_s, all_s; /* seeks in all only */
    double exposed; /* share of the ranks' time in which they did nothing but wait; NAN: not watched */
};

void wait_of(const struct job_total *job, struct wait *out);

#endif
