/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One process, or one job, as a mixture of the catalogue's patterns. */
#ifndef UNBLEND_ANALYZER_MIXTURE_H
#define UNBLEND_ANALYZER_MIXTURE_H

#include "analyzer/catalogue.h"
#include "analyzer/part.h"
#include "analyzer/resample.h"

/* Less than this says nothing about anybody's habits: it is unknown. */
#define MIXTURE_OPS_MIN   100
#define MIXTURE_BYTES_MIN (8u << 20)

/*
 * Adds what each profile explains to parts[catalogue->count + 1], in the catalogue's order, the
 * last being unknown. `concert`: when its reads and writes came, NULL where that is
 * not known. `process`: what is known beside it of a process, NULL where the tally is not one's. Adds draws of what it found to
 * `draws`, unless that is NULL; then parts have to be empty. 0 or -ENOMEM.
 */
int mixture_add(const struct catalogue *catalogue, const struct tally *tally, const struct concert *concert,
                const struct peers *process, struct part *parts, struct draws *draws);

#endif
