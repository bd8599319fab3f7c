/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a fit has made of the profiles that take part, and what that is worth. */
#ifndef UNBLEND_ANALYZER_STANDING_H
#define UNBLEND_ANALYZER_STANDING_H

#include "analyzer/fitting.h"

/* Of what a profile has to be worth: of two that explain nearly as much, the one that holds less is it. */
#define MORE_COST 0.05

/* A part of few operations, which moved little. */
bool standing_is_tiny(const struct part *part);

/* Of a profile that reads or writes contents, a part that moves next to none, less than a byte for each operation; and
   not as pages of mapped files that are in the page cache, as where most files that are opened are not read. */
bool standing_lacks_bytes(const struct fitting *fitting, uint32_t profile);

/* No part that has fewer operations is more than tiny. */
double standing_least_ops(const struct fitting *fitting);

/* A part is like the signatures that it was fitted to. */
bool standing_is_like(const struct part *part);

/* How well a profile's part matches it: by its recipes and by its bounds. NAN for an empty one. */
double standing_match(const struct fitting *fitting, uint32_t p);

/* In a sum, what matches less is unknown. */
bool standing_may_be_named(const struct fitting *fitting, uint32_t p, double match);

/* Whether a profile's part of a sum is like its recipes, and sure enough to be named, unless it breaks a bound. */
bool standing_is_sure(const struct fitting *fitting, uint32_t p);

/* What a profile's part of so many operations is to be worth, in nats. */
double standing_needed(const struct fitting *fitting, uint32_t profile, double ops);

/* What is no higher is lower by at least so much, or higher by at most that where it is negative, however all of them
   were rounded. */
double standing_lower(double score, double by);

/* What a process does alone or not at all, others may do beside it in a sum. */
bool standing_may_be_part(const struct fitting *fitting, const struct profile *profile);

/* One of the active profiles, but not `added`, that does not keep its bounds; UINT32_MAX when all do. */
uint32_t standing_find_broken(const struct fitting *fitting, uint32_t added);

#endif
