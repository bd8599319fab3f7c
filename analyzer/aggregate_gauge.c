/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/aggregate_private.h"

#include <errno.h>

/* What is in flight: of a moment, so it does not add up over time as the rest does. */

int aggregate_gauge(struct aggregate *a, struct volume_total *volume, const struct batch *batch,
                    const struct record *record)
{
    int64_t end_ns = batch->start_ns + (int64_t)batch->duration_ns;
    struct node_total *node = aggregate_node(a, batch);
    struct gauge *gauge = NULL;

    if (!record->in_flight)
        return 0;
    if (!node)
        return -ENOMEM;
    for (uint32_t i = 0; !gauge && i < volume->gauge_count; i++)
        if (volume->gauges[i].node == node->node)
            gauge = &volume->gauges[i];
    if (!gauge) {
        if (RESERVE(volume->gauges, volume->gauge, sizeof(*gauge)))
            return -ENOMEM;
        gauge = &volume->gauges[volume->gauge_count++];
        *gauge = (struct gauge){.node = node->node, .end_ns = INT64_MIN};
    }
    if (end_ns < gauge->end_ns)
        return 0;
    if (end_ns > gauge->end_ns)
        *gauge = (struct gauge){.node = gauge->node, .end_ns = end_ns};
    gauge->count += record->in_flight;
    if (record->oldest_ns > gauge->oldest_ns)
        gauge->oldest_ns = record->oldest_ns;
    return 0;
}

void volume_in_flight(const struct volume_total *volume, const struct aggregate *a, uint64_t *count,
                      uint64_t *oldest_ns)
{
    *count = *oldest_ns = 0;
    for (uint32_t i = 0; i < volume->gauge_count; i++) {
        const struct gauge *gauge = &volume->gauges[i];
        int64_t last_ns = INT64_MAX;

        for (uint32_t k = 0; k < a->node_count; k++)
            if (a->nodes[k].node == gauge->node)
                last_ns = a->nodes[k].last_ns;
        if (gauge->end_ns < last_ns)
            continue; /* a later interval had none */
        *count += gauge->count;
        if (gauge->oldest_ns > *oldest_ns)
            *oldest_ns = gauge->oldest_ns;
    }
}
