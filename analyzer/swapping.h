/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One profile in the place of another. */
#ifndef UNBLEND_ANALYZER_SWAPPING_H
#define UNBLEND_ANALYZER_SWAPPING_H

#include "analyzer/fitting.h"

/* Makes one active and the other not. */
void swapping_put(struct fitting *fitting, uint32_t in, uint32_t out);

/* Puts a copy in the place of an active profile, where that explains more: its reads and its writes may have been taken in
   as two profiles', one after the other, before it. 1 if there was one, 0 or -ENOMEM. */
int swapping_better(struct fitting *fitting);

#endif
