/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What signatures are in the groups that a mixture is fitted in. */
#ifndef UNBLEND_ANALYZER_FITTING_ROWS_H
#define UNBLEND_ANALYZER_FITTING_ROWS_H

#include "analyzer/fitting.h"

/* Adds a signature, whose ingredients begin at that place among all of them, to a row[all_count]: spread over the
   groups, inside each of its ranges as the data is spread. */
void fitting_spread(const struct fitting *fitting, const struct signature *signature, size_t first, double *row);

#endif
