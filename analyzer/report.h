/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report: the totals of what was read, what they mean, and what could not be seen. Views draw it. */
#ifndef UNBLEND_ANALYZER_REPORT_H
#define UNBLEND_ANALYZER_REPORT_H

#include "analyzer/aggregate.h"
#include "analyzer/blend.h"
#include "analyzer/capacity.h"
#include "analyzer/classify.h"
#include "analyzer/finding/finding.h"
#include "analyzer/gaps.h"
#include "analyzer/source.h"
#include "analyzer/suspect.h"

#define REPORT_SCHEMA "unblend.report/1"

struct comparison;
struct scenario_list;

struct report {
    struct aggregate totals;       /* sorted */
    struct profile_list *profiles; /* one a job of totals, in that order */
    struct profile_list cluster;
    struct blend blend;
    struct finding_list findings;
    const struct offer *offer; /* the storage that this demand is compared with; NULL: not told */
    struct capacity capacity;
    const struct scenario_list *scenarios; /* NULL: nothing is asked for */
    const struct comparison *comparison; /* with a report of before; NULL: not asked for */
    bool look_for_suspects; /* set by the caller */
    const char *asked; /* of what: inputs, and what of them; set by the caller, or NULL */
    bool selected;     /* jobs were, by their names; set by the caller */
    bool cut;          /* what came later was left out; set by the caller */
    struct suspects suspects;
    uint64_t in_flight; /* that never returned: running at the end, or their thread died inside them (totals.killed) */
    char *clocks;            /* nodes whose clocks were wrong, as clocks_tell() says it; NULL: none */
    char *ahead;             /* those that are far ahead, as clocks_doubt() says it; NULL: none */
    struct gap clock_gap;    /* as clocks */
    const struct gap **gaps; /* those that hold for what was read; NULL ends them */
    bool damaged;            /* a recording was */
};

/*
 * Reads the source to its end. The grouping and label of report->totals and the offer are set by the caller, the
 * rest is zeroed. The catalogue and the offer must outlive the report. 0 or -errno (logged).
 */
int report_build(struct source *source, const struct catalogue *catalogue, struct report *report);

/* How many commands were running when what was recorded of them ended, *first is the first one's job. What was left out
   may have their ends: then it is 0. */
uint32_t report_unended(const struct report *report, const struct job_total **first);

/* Whether of most of the time it is not known what of several things was done when: the blend is at most what it says. */
bool report_mingles(const struct report *report);

void report_clear(struct report *report);

#endif
