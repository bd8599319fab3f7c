/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes that would save operations and time, reckoned from what was counted. Seconds are those of operations: what
 * several threads wait at the same time counts for each. They are lower bounds where it says so.
 */
#ifndef UNBLEND_ANALYZER_REMEDY_H
#define UNBLEND_ANALYZER_REMEDY_H

#include "analyzer/report.h"

enum remedy_kind {
    REMEDY_PACK,  /* many files, each opened for little: read them from a few large ones */
    REMEDY_ENLARGE, /* reads that follow each other, in small pieces: read 1 MiB at a time */
    REMEDY_LOOK,  /* asked for what is not there, again and again */
    REMEDY_APART, /* jobs that slow each other on a volume: run them one after the other */
};

struct remedy {
    enum remedy_kind kind;
    const struct job_total *job, *other; /* other: of REMEDY_APART */
    const struct volume_total *volume;
    double ops, seconds; /* saved */
    bool at_most;        /* the seconds are an upper bound: maybe nothing is saved */
};

/* The one that saves most time; false when none would save a second in a thousand of all. */
bool remedy_best(const struct report *report, struct remedy *out);

#endif
