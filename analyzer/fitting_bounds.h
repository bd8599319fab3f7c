/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a part keeps the bounds that the catalogue sets on it. */
#ifndef UNBLEND_ANALYZER_FITTING_BOUNDS_H
#define UNBLEND_ANALYZER_FITTING_BOUNDS_H

#include "analyzer/fitting.h"

/* Whether a signature keeps its bounds on the whole, which are the same whatever part it gets. */
bool fitting_suits_whole(const struct fitting *fitting, const struct signature *signature);

/*
 * What confidence is multiplied with for the requirements on a profile's part, or on that of one of its signatures by
 * itself (NULL: all of it); 0 when one that must hold does not.
 */
double fitting_requirements(const struct fitting *fitting, const struct profile *profile,
                            const struct signature *signature, const struct part *part);

/* The first of a profile's bounds that must hold, and does not for that part, and what the part has of it; NULL: they
   hold. */
const struct requirement *fitting_broken(const struct fitting *fitting, const struct profile *profile,
                                         const struct part *part, double *value);

#endif
