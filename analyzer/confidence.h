/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How likely it is that a profile is right, as a calibrated probability: of the answers given with 0.9, nine in ten
 * are. Logistic regressions (Platt 1999) on recordings of real programs whose profile is known: of a process on how
 * well it fits; of a part of a sum, where the fit says little about that, on how large the part is and whether more is
 * left over than chance. Right is a part whose profile is one of those that are really in it. The parameters are those
 * that `tests/workload/truth/truth confidence` prints; it also tells how well they do where the programs judged were
 * left out.
 */
#ifndef UNBLEND_ANALYZER_CONFIDENCE_H
#define UNBLEND_ANALYZER_CONFIDENCE_H

#include <stdbool.h>

#include "analyzer/part.h"

#define RESIDUAL_P 0.05 /* below, more is left over than chance (analyzer/resample.h) */

/* Of a process that fits a profile to that degree, 0..1. */
double confidence_of_match(double match);

/* Whether another profile would explain so much of a part that it is worth a word. */
bool confidence_contested(const struct part *part);

/* Of a part of what is looked at: `known` but for what no profile explains, `share` the larger of its shares of
   operations and of bytes, `residual` the residual test's p, NAN if that is not known. */
double confidence_of_part(const struct part *part, bool known, double share, double residual);

#endif
