/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways in which a program does what a profile says: the catalogue's bounds on behaviour, and who is inside of them. */
#ifndef UNBLEND_ANALYZER_WAYS_H
#define UNBLEND_ANALYZER_WAYS_H

#include "analyzer/behaviour.h"
#include "analyzer/catalogue.h"

/*
 * How well inside the bounds of one of a profile's ways of that side a behaviour is: at a bound 0.6, at half or double
 * of it 0.95; 0 when each has a broken bound, or there is none.
 */
double ways_match(const struct behaviour *behaviour, const struct profile *profile, enum side side);

/* The catalogue's profile that matches best, one in a way that comes first before all others; NULL for none. */
const struct profile *ways_name(const struct behaviour *behaviour, const struct catalogue *catalogue,
                                     enum side side, double *match);

/* Only by ways that come first. */
const struct profile *ways_name_first(const struct behaviour *behaviour, const struct catalogue *catalogue,
                                           enum side side, double *match);

#endif
