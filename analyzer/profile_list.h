/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shares of profiles in what a job, a volume or a cluster does. */
#ifndef UNBLEND_ANALYZER_PROFILE_LIST_H
#define UNBLEND_ANALYZER_PROFILE_LIST_H

#include <stdbool.h>
#include <stdint.h>

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

/* A share of nothing, of which nothing is known. NULL: no memory. It stays where it is until the next is added. */
struct profile_share *profile_list_add(struct profile_list *list);

/* Into the order of struct profile_list. */
void profile_list_sort(struct profile_list *list);

/* The jobs' lists added up, weighted by what each job did. 0 or -ENOMEM. */
int profile_list_sum(const struct profile_list *lists, uint32_t count, struct profile_list *out);

void profile_list_clear(struct profile_list *list);

#endif
