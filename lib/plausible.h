/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a node can have done what a batch says. What adds batches up holds sums below 2^63: a handful of batches with
 * numbers near it, of a broken agent or a forged one, would leave nobody a sum.
 */
#ifndef UNBLEND_LIB_PLAUSIBLE_H
#define UNBLEND_LIB_PLAUSIBLE_H

#include "lib/codec.h"

/* Of all of a batch's records together, and so of its flows and of its storage, whichever number it is: operations and
   bytes (119 GB/s for the week that a batch may last), and nanoseconds (of operations: 13,000 threads that waited for a
   day). */
#define PLAUSIBLE_COUNT (UINT64_C(1) << 56)
#define PLAUSIBLE_NS    (UINT64_C(1) << 60)

/* 0, or -EBADMSG with the first number that is too much. */
int batch_plausible(const struct batch *batch, struct codec_error *error);

/* Forgets what such a batch counted: who, when and what it could not see stays, and its coverage tells that it was
   dropped. 0 or -ENOMEM. */
int batch_distrust(struct batch *batch);

#endif
