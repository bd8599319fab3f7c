/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traits of a job's use of a volume, by what they look at; subjects_use() puts them together. */
#ifndef UNBLEND_ANALYZER_FINDING_USE_H
#define UNBLEND_ANALYZER_FINDING_USE_H

#include "analyzer/finding/rule.h"

/* Time inside operations of a kind, in seconds. */
static inline double use_seconds(const struct tally *tally, enum operation op)
{
    return (double)tally->op[op].latency_sum_ns / 1e9;
}

/* A quantile of times in ns, in seconds; NAN without any. */
double use_quantile_s(const struct histogram *h, double q);

/* How often what was opened, so many bytes, is in that much, but for what was written to it since; NAN where most may be. */
double use_covered(double bytes, const struct tally *tally, double opened);

/* Of the files opened, the bytes of those that are others, as far as these are told apart; of each run of the job. After
   use_of_files(). */
double use_distinct(const struct aggregate *totals, const struct job_total *job, const struct volume_total *volume,
                    const double *traits);

/* Sets traits: which files were opened, and how large these are. */
void use_of_files(const struct tally *tally, double *traits);

/* How often what processes that jump have opened is in what they read, as use_covered(); at most `covered`, which is what
   that says of all, and that where no process is known to have opened anything. */
double use_jumped(const struct job_total *job, const struct volume_total *volume, double covered);

/* Sets traits of the same files as far as they are told apart, after use_of_files(). 0 or -ENOMEM. */
int use_of_working_set(const struct aggregate *totals, const struct job_total *job, const struct volume_total *volume,
                       struct subject *subject);

/* Set traits: what the page cache served, after use_of_files() and what is said of reads; which writes waited for the
   device; and, after use_of_files(), what direct I/O had to be aligned. */
void use_of_cache(const struct aggregate *totals, const struct job_total *job, const struct volume_total *volume,
                  double *traits);
void use_of_sync_writes(const struct job_total *job, const struct volume_total *volume, double *traits);
void use_of_alignment(const struct tally *tally, double *traits);

#endif
