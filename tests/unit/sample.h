/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches for tests: random ones that are the same for the same seed, and a comparison that knows
 * no codec. */
#ifndef UNBLEND_TESTS_UNIT_SAMPLE_H
#define UNBLEND_TESTS_UNIT_SAMPLE_H

#include "lib/record.h"

/* xorshift64* (Vigna); the state must not be 0. */
uint64_t sample_random(uint64_t *state);

/* At most so many records, with everything a batch can hold in it. Ends the program without memory.
 */
struct batch *sample_batch(uint64_t seed, uint32_t records);

/* NULL if they are equal, else the name of the first thing that differs. */
const char *sample_difference(const struct batch *a, const struct batch *b);

#endif
