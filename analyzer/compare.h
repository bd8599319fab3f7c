/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two reports, before and after a change: what moved beyond noise.
 *
 * Rates are compared by the means of up to 20 equal parts of each span (Welch's test on batch means, which takes care
 * of demand that comes in waves), sizes and latencies by the order statistics of their histograms, in which an interval
 * stands for at most ten independent operations, and two buckets (25 %) is the least that counts. All tests together
 * call noise a change once in a hundred comparisons (Bonferroni). Jobs and volumes are matched by name.
 */
#ifndef UNBLEND_ANALYZER_COMPARE_H
#define UNBLEND_ANALYZER_COMPARE_H

#include "analyzer/report.h"

struct moved {
    const char *what; /* cluster, job or volume */
    const char *name; /* NULL for the cluster */
    const char *metric, *op; /* op: NULL for rates */
    double before, after;
    double low, high; /* of after / before, in the interval that the test allows; NAN when before is 0 */
    bool beyond;      /* beyond noise */
    double score;     /* by which they are listed */
};

struct comparison {
    const struct report *before, *after;
    struct moved *list; /* those beyond noise, the surest first */
    uint32_t count, capacity;
    uint32_t within, unknown; /* compared and not moved; too few intervals or operations to tell */
    const char **gone, **come; /* jobs of one report only */
    uint32_t gone_count, come_count;
};

/* Both reports must outlive it. 0 or -ENOMEM. */
int compare_reports(const struct report *before, const struct report *after, struct comparison *out);
void comparison_clear(struct comparison *comparison);

#endif
