/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which signatures cannot be in the data, whatever else there is. */
#ifndef UNBLEND_ANALYZER_FITTING_POSSIBLE_H
#define UNBLEND_ANALYZER_FITTING_POSSIBLE_H

#include "analyzer/fitting.h"

/* Whether there is some of what it transfers; files that it only opens may have been mapped, or nothing was read of them. */
bool fitting_is_possible(const struct fitting *fitting, const struct signature *signature);

#endif
