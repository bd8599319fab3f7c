/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes with patterns in sums. For the same reads one library asks once for the state of a file, another four times
 * and a third never, so no recipe can say how often; what no pattern explains may be that, up to so many for each
 * operation that it goes with (`companions` in unblend-profile(5)).
 */
#ifndef UNBLEND_ANALYZER_COMPANIONS_H
#define UNBLEND_ANALYZER_COMPANIONS_H

#include "analyzer/catalogue.h"
#include "analyzer/part.h"

/* Moves what may go with the patterns that were found (parts, by profile) to them from what nobody explains (rest).
   Where several may have more of a kind than there is, each gets the same share of what it may have. How well a part
   fits is not touched by what goes with it. */
void companions_take(const struct catalogue *catalogue, struct part *rest, struct part *parts);

/* What is left then, if it is less than a tenth of all operations and of all bytes: shared out among what was found, by
   operations and by bytes. No recipe names all that a library does beside, and a sum of one program is mostly more than
   its recipes. */
void companions_take_little(const struct catalogue *catalogue, struct part *rest, struct part *parts);

#endif
