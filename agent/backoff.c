/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/backoff.h"

#include <sys/random.h>

#include "lib/clock.h"

unsigned backoff_random(unsigned most)
{
    unsigned random = 0;

    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
        random = (unsigned)monotonic_ns();
    return random % (most + 1);
}

unsigned backoff_next(struct backoff *backoff)
{
    backoff->ms = backoff->ms ? backoff->ms * 2 : BACKOFF_FIRST_MS;
    if (backoff->ms > BACKOFF_LAST_MS)
        backoff->ms = BACKOFF_LAST_MS;
    return backoff->ms / 2 + backoff_random(backoff->ms / 2);
}

unsigned backoff_asked(struct backoff *backoff, unsigned asked_ms)
{
    unsigned next = backoff_next(backoff);

    return asked_ms ? asked_ms + backoff_random(asked_ms > backoff->ms ? asked_ms : backoff->ms) : next;
}
