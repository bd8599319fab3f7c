/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/presence.h"

#include <math.h>

#define TIME_MAX 9e18 /* ns that an int64_t holds: clocks may have been set far apart */

/* One by one: squares of times since 1970 have no digits left for what is sought (Welford, 1962; with weights, West, 1979). */
void presence_add(struct presence *presence, int64_t start_ns, uint64_t duration_ns, uint64_t time_ns)
{
    double at = (double)start_ns + (double)duration_ns / 2, apart;

    if (!time_ns)
        return;
    if (!(presence->time > 0))
        presence->middle = at; /* exactly: it is far from 0 */
    apart = at - presence->middle;
    presence->time += (double)time_ns;
    presence->middle += apart * (double)time_ns / presence->time;
    presence->spread += (double)time_ns * apart * (at - presence->middle);
}

void presence_span(const struct presence *presence, int64_t interval_ns, int64_t *first_ns, int64_t *last_ns)
{
    double length = (double)interval_ns, variance, half;

    *first_ns = *last_ns = 0;
    if (!(presence->time > 0))
        return;
    variance = presence->spread / presence->time / (length * length);
    half = (sqrt(12 * variance + 1) - 1) / 2 * length;
    *first_ns = (int64_t)fmax(presence->middle - half, -TIME_MAX);
    *last_ns = (int64_t)fmin(presence->middle + half, TIME_MAX);
}
