/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a volume fills up: what was told of it over time, thinned out so that memory is bounded; and how fast it grows,
 * from two weeks on. Growth is the slope of a line through the days' means (least squares), its interval Student's t at
 * 95 %, with as many independent days as their autocorrelation leaves; it is full where lines of those slopes reach the
 * total.
 */
#ifndef UNBLEND_ANALYZER_FILLING_H
#define UNBLEND_ANALYZER_FILLING_H

#include "lib/record.h"

#define FILLING_POINTS   2048
#define FILLING_DAYS_MIN 14

struct filling_point {
    int64_t ns;
    struct space space;
};

/* Zeroed is empty. */
struct filling {
    struct filling_point *points; /* rising in time */
    uint32_t count;
    int64_t every_ns; /* nearer ones are left out, but for the last */
    struct filling_point last;
    bool doubted; /* it was told at times that cannot be right */
};

struct growth {
    bool known; /* else fewer than two weeks, or at times that cannot be right */
    double value, low, high; /* bytes a day */
    int64_t early_ns, late_ns; /* when it is full; 0: never, at that rate */
};

/* 0 or -ENOMEM. */
int filling_add(struct filling *filling, int64_t ns, const struct space *space);

/* How full it was last; false when nobody told. */
bool filling_last(const struct filling *filling, struct space *out);

/* 0 or -ENOMEM. */
int filling_growth(const struct filling *filling, struct growth *out);

void filling_clear(struct filling *filling);

#endif
