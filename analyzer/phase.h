/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job in parts: when it wrote (an ingest), when it read, when it only looked for names, and when it did next to
 * nothing. Time is cut into at most PHASES_MAX windows of as many slots each; neighbours of one kind make a phase. So a
 * phase begins and ends to a window, and what is shorter than that belongs to what is around it.
 */
#ifndef UNBLEND_ANALYZER_PHASE_H
#define UNBLEND_ANALYZER_PHASE_H

#include <stdio.h>

#include "analyzer/series.h"

#define PHASES_MAX 100

enum phase_kind {
    PHASE_QUIET,    /* bytes and metadata operations are at most a twentieth of what they are on average */
    PHASE_METADATA, /* else four in five operations are metadata, and less than 4 KiB is moved for each of those */
    PHASE_READ,     /* else four in five bytes are read, or */
    PHASE_WRITE,    /* written */
    PHASE_MIXED,
    PHASE_KINDS
};

extern const char *const phase_names[PHASE_KINDS]; /* "quiet", "metadata", "read", "write", "mixed" */

struct phase {
    enum phase_kind kind;
    int64_t start_ms; /* since 1970 */
    double length_s;
    struct demand_slot sum;
};

struct phases {
    struct phase list[PHASES_MAX];
    unsigned count;
};

/* 0, or -ENODATA for an empty series. */
int phases_of(const struct series *series, struct phases *out);

/* "write 40s (12G), read 5min (90G), quiet 20s, and 3 more" */
void phases_write(FILE *out, const struct phases *phases);

#endif
