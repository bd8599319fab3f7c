/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profiles a mixture is of. */
#ifndef UNBLEND_ANALYZER_SELECTION_H
#define UNBLEND_ANALYZER_SELECTION_H

#include "analyzer/fitting.h"

/*
 * Signatures overlap, so with all of them at once each would take a little of everything. Profiles are therefore taken
 * in one at a time, the one that explains most first (forward selection), and dropped again when those taken later make
 * them needless. In a sum, a copy then takes the place of one of them where that explains more, and recipes are left
 * out that keep a profile from being named. They are active then, and fitted; *rejected is what one more would
 * hold but for its bounds. 0 or -ENOMEM.
 */
int selection_fit(struct fitting *fitting, struct rejected *rejected);

#endif
