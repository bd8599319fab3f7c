/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums that end at 2^63 - 1, which is the most that JSON and PostgreSQL hold. */
#ifndef UNBLEND_LIB_SATURATE_H
#define UNBLEND_LIB_SATURATE_H

#include <stdint.h>

static inline uint64_t saturate(uint64_t sum, uint64_t more)
{
    return more > INT64_MAX - sum ? INT64_MAX : sum + more;
}

#endif
