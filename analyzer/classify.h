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
#include "analyzer/spells.h"

#define PROFILE_UNKNOWN "unknown"

struct profile_share {
    const char *profile; /* the catalogue's, or PROFILE_UNKNOWN */
    bool pipeline;       /* else a pattern */
    double share_ops;
    double share_bytes; /* NAN when no bytes were moved at all */
    struct share_interval {
        double low, high; /* NAN: none is known, see classify_job() */
    } ops_interval, bytes_interval;
    double residual;    /* of unknown: p of the residual test (analyzer/resample.h); NAN: not known */
    double confidence;  /* 0..1 */
    uint64_t ops, bytes;
    char **evidence; /* sentences with numbers */
    uint32_t evidence_count;
};

struct profile_list {
    struct profile_share
        *shares; /* patterns, then pipelines; each the largest share first, unknown last */
    uint32_t count;
    double *times; /* a job's: [volume][profile][BUSY_KINDS], ns; profiles as in the catalogue, the last is unknown */
    struct spells spells; /* when the job's processes did it */
};

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

/* The jobs' lists added up, weighted by what each job did. 0 or -ENOMEM. */
int classify_sum(const struct profile_list *lists, uint32_t count, struct profile_list *out);

void profile_list_clear(struct profile_list *list);

#endif
