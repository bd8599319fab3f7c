/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others do first: who reads files lists them, so in a sum that is no profile of its own. */
#ifndef UNBLEND_ANALYZER_PRELUDES_H
#define UNBLEND_ANALYZER_PRELUDES_H

#include "analyzer/catalogue.h"
#include "analyzer/part.h"

/*
 * Moves a prelude (unblend-profile(5)) to the other patterns that were found (parts, by profile), by the files that each
 * of them opens, where it looks at no more names than a few for each of these, or is little altogether: then they do
 * it, as far as anybody can tell. What removes names is nobody's prelude.
 */
void preludes_take(const struct catalogue *catalogue, struct part *parts);

#endif
