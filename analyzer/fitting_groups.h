/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a mixture is fitted in: groups of bins that no signature tells apart, and how much of each ingredient is in it. */
#ifndef UNBLEND_ANALYZER_FITTING_GROUPS_H
#define UNBLEND_ANALYZER_FITTING_GROUPS_H

#include "analyzer/fitting.h"

/* Groups the bins, which are there and divided by what they match: group, of, observed and both counts. 0 or -ENOMEM. */
int fitting_group(struct fitting *fitting, const struct tally *tally);

/* Weights of all ingredients, once the bins are grouped and the catalogue's entries counted. 0 or -ENOMEM. */
int fitting_weigh(struct fitting *fitting);

/* Whether the bin's size is in the ingredient's range, which has to have one. */
bool fitting_in_range(const struct ingredient *ingredient, const struct bin *bin);

/* Whether the bin is of those that the ingredient speaks of. */
bool fitting_holds(const struct fitting *fitting, const struct ingredient *ingredient, const struct bin *bin);

#endif
