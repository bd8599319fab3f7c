/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads once more, by what is known of all of them together only, beside their sizes: where they start, and how large their
 * files are. To the fit, each is a few more bins behind its groups (analyzer/unmix.h).
 */
#ifndef UNBLEND_ANALYZER_FITTING_MARGINS_H
#define UNBLEND_ANALYZER_FITTING_MARGINS_H

#include "analyzer/fitting.h"

/* So many bins they are at most. */
#define MARGINS_MAX (2 + FILE_SIZES)

/* Adds those that are known to the groups, which have been made. */
void fitting_add_margins(struct fitting *fitting, const struct tally *tally);

/* What a signature says of them; row[all_count] has its groups. */
void fitting_spread_margins(const struct fitting *fitting, const struct signature *signature, double *row);

#endif
