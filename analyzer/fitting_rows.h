/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a mixture is fitted in: the groups of its bins, and what signatures are in these. */
#ifndef UNBLEND_ANALYZER_FITTING_ROWS_H
#define UNBLEND_ANALYZER_FITTING_ROWS_H

#include "analyzer/fitting.h"

/* Groups the bins, which are there and divided by what they match: group, of, observed and both counts. 0 or -ENOMEM. */
int fitting_group(struct fitting *fitting, const struct tally *tally);

/* Weights of all ingredients, once the bins are grouped and the catalogue's entries counted. 0 or -ENOMEM. */
int fitting_weigh(struct fitting *fitting);

/* Whether the bin's size is in the ingredient's range, which has to have one. */
bool fitting_in_range(const struct ingredient *ingredient, const struct bin *bin);

/* Whether the bin is of those that the ingredient speaks of. */
bool fitting_holds(const struct fitting *fitting, const struct ingredient *ingredient, const struct bin *bin);

/* Adds a signature, whose ingredients begin at that place among all of them, to a row[all_count]: spread over the
   groups, inside each of its ranges as the data is spread. */
void fitting_spread(const struct fitting *fitting, const struct signature *signature, size_t first, double *row);

#endif
