/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks, read in one unit. Wall clock: since 1970; monotonic: since some moment of this boot. */
#ifndef UNBLEND_LIB_CLOCK_H
#define UNBLEND_LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline int64_t wall_clock_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

static inline int64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t monotonic_ms(void)
{
    return monotonic_ns() / 1000000;
}

#endif
