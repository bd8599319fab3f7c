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

/*
 * GPU-hours lost to I/O. GPUs are idle for other reasons, too: `usual` is the share of the intervals without I/O in
 * which they were (where there are none: the least that it can have been between I/O), and that share of the time with
 * I/O is not counted as lost. Low is what they were idle beyond it while their ranks' main threads did nothing but wait
 * for I/O, high what they were idle beyond it during any I/O of their ranks.
 */
struct gpu_loss {
    double watched_h;
    double calm_h;      /* intervals without I/O */
    double idle, usual; /* shares of all time, and of that without I/O; NAN: there was next to none */
    double low_h, high_h; /* NAN: usual is */
};

/* False when no GPU was watched. */
bool gpu_loss_of(const struct gpu_time *time, struct gpu_loss *out);
/* Of all jobs, and of which most; NULL, and NAN, when none can tell. What some cannot tell is not in low and high. */
bool gpu_loss_sum(const struct aggregate *totals, struct gpu_loss *out, const struct job_total **worst);

#endif
