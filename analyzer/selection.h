/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profiles a mixture is of, and which of them might as well be others. */
#ifndef UNBLEND_ANALYZER_SELECTION_H
#define UNBLEND_ANALYZER_SELECTION_H

#include "analyzer/fitting.h"

/*
 * Signatures overlap, so with all of them at once each would take a little of everything. Profiles are therefore taken
 * in one at a time, the one that explains most first (forward selection), and dropped again when those taken later make
 * them needless. They are active then, and fitted; *rejected are the operations that one more would hold but for its
 * bounds. 0 or -ENOMEM.
 */
int selection_fit(struct fitting *fitting, double *rejected);

/* Says of the profiles that were found which of them cannot well be told from others: `contested` and `rival` of their
   parts. 0 or -ENOMEM. */
int selection_find_rivals(struct fitting *fitting);

#endif
