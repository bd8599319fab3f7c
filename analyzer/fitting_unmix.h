/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures that take part in a fit, and unmixing by them. */
#ifndef UNBLEND_ANALYZER_FITTING_UNMIX_H
#define UNBLEND_ANALYZER_FITTING_UNMIX_H

#include "analyzer/fitting.h"

/* One that takes part: the n-th of a profile; s and first are its places among all signatures and all ingredients, k its place
   among those that take part. */
typedef void fitting_each(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                          void *context);

/* Calls `each` with every signature that takes part in a fit: those of active profiles (or of one alone; UINT32_MAX: all), but
   for the refused. Returns how many there are. */
size_t fitting_each_signature(const struct fitting *fitting, uint32_t only, fitting_each *each, void *context);

/* Notes what those that take part claim, as their rows depend on it. */
void fitting_note_claims(struct fitting *fitting, uint32_t only);

/* unmix() of signatures whose claims were noted. In the score it is worth something, to whom they are a copy, that
   there are as many reads as writes of one size, which is hardly chance; 0 is possible, too, for one that does not pass
   the floor. */
int fitting_unmix(const struct fitting *fitting, uint32_t only, double tolerance, double floor, const struct unmixed *of,
                  double *score);

#endif
