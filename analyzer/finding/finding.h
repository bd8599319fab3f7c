/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings: what costs time, why it is thought so, and what would help. Made of the sorted totals by a table of rules
 * (rule.h); texts that are not the finding's own point into the totals, which must outlive it.
 */
#ifndef UNBLEND_ANALYZER_FINDING_H
#define UNBLEND_ANALYZER_FINDING_H

#include "analyzer/aggregate.h"
#include "analyzer/blend.h"
#include "analyzer/classify.h"

#define FINDING_EVIDENCE 10

struct finding {
    const char *id;       /* the rule's */
    const char *severity; /* critical, high, medium, low */
    const char *job, *node, *volume, *user; /* NULL: not of one */
    const char *metric;   /* what was measured */
    double value;
    double expected;      /* the rule's bound on it, beyond which it is a finding */
    double cost_low, cost_high; /* operation-seconds */
    char *evidence[FINDING_EVIDENCE];
    uint32_t evidence_count;
    const char *remedy;
    double gain;          /* share of the job's time in operations that the remedy would save; NAN: nobody can tell */
    double confidence;    /* 0..1 */
};

struct finding_list {
    struct finding *list; /* the dearest first */
    uint32_t count, capacity;
};

/* What findings are made of. */
struct finding_matter {
    const struct aggregate *totals;     /* sorted */
    const struct profile_list *profiles; /* one a job */
    const struct catalogue *catalogue;
    const struct blend *blend;
};

/* 0 or -ENOMEM. */
int finding_list_make(const struct finding_matter *matter, struct finding_list *out);
/* Whether it costs so little of a span that who reads a page is not told; JSON has it. */
bool finding_is_trifle(const struct finding *finding, double span_s);
void finding_list_clear(struct finding_list *list);

#endif
