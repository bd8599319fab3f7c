/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is storage saturated, by what, and when? */
#include "analyzer/answer_private.h"
#include "analyzer/human.h"

#define HIGH_USE 0.8 /* from here on queues grow faster than demand */
#define FULL_USE 0.95

/* The busiest slot by bytes. */
static void add_peak(struct answer *a, const struct series *series)
{
    char rate[HUMAN_SIZE], time[HUMAN_SIZE], slot[HUMAN_SIZE];
    uint64_t most = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < series->length; i++)
        if (demand_sum(&series->slots[i], DEMAND_BYTES) > most) {
            most = demand_sum(&series->slots[i], DEMAND_BYTES);
            at = i;
        }
    if (!most)
        return;
    human_time(time, (series->first + at) * (int64_t)series->slot_ms * 1000000);
    answer_add(a, "Programs asked for most at %.10s %.8s UTC: %s/s over %s.", time, time + 11,
        human_bytes(rate, (double)most * 1e3 / series->slot_ms), human_duration(slot, series->slot_ms / 1e3));
}

/* What waits in a queue for longer than it takes to be served says that more comes than goes. */
static void add_queue(struct answer *a, const struct backends *backends)
{
    const struct backend *worst = NULL;
    char queue[HUMAN_SIZE], service[HUMAN_SIZE];
    double most = 0, q = 0, s = 0;

    for (uint32_t i = 0; i < backends->count; i++)
        for (unsigned r = REQUEST_READ; r <= REQUEST_WRITE; r++) {
            const struct station *station = &backends->list[i].requests[r];

            if (station->known & STATION_QUEUE && station->known & STATION_SERVICE && station->ops &&
                (double)station->queue_sum_ns > most) {
                most = (double)station->queue_sum_ns;
                worst = &backends->list[i];
                q = (double)station->queue_sum_ns / (double)station->ops;
                s = (double)station->service_sum_ns / (double)station->ops;
            }
        }
    if (worst)
        answer_add(a, "Requests to %s on %s waited %s in the queue and took %s, on average.", worst->volume,
                   worst->node, human_ns(queue, q), human_ns(service, s));
}

/* Demand with what the platform can do: of what reached it, where that was seen. */
static void compare(struct answer *a, const struct report *report)
{
    static const char *const words[METRIC_COUNT] = {"bytes read", "bytes written", "reads", "writes",
                                                    "metadata operations", "operations in flight"};
    const struct capacity_entry *entry = &report->capacity.platform.entry;
    const struct capacity_use *use = NULL;
    char time[HUMAN_SIZE];

    for (unsigned w = CAPACITY_WINDOWS; w-- > 0;)
        if (entry->use[w].known)
            use = &entry->use[w];
    if (!use) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because the platform file limits nothing that was seen.");
        return;
    }
    human_time(time, use->max_ms * 1000000);
    answer_say(a, use->max >= FULL_USE ? ANSWER_BAD : use->max >= HIGH_USE ? ANSWER_PLAIN : ANSWER_GOOD,
        "%s: %.0f %% of what %s can do at most, by %s, at %.10s %.8s UTC.",
        use->max >= FULL_USE ? "Yes" : use->max >= HIGH_USE ? "Nearly" : "No", 100 * use->max, report->offer->name,
        words[use->binding], time, time + 11);
    answer_add(a, "%.0f %% on average, %.0f %% in the 95th percentile%s.", 100 * use->mean, 100 * use->p95,
        entry->reached ? "" : ", of what programs asked for: what reached it was not seen");
}

void answer_saturated(const struct report *report, struct answer *a)
{
    const struct windows *windows = &report->totals.windows;
    char in[HUMAN_SIZE], out[HUMAN_SIZE];
    uint64_t burst, steady;

    if (!report->offer) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because nobody said what storage can do (--platform).");
    } else if (!report->capacity.cluster_count) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because no shared volume was seen.");
    } else if (!report->capacity.platform.known) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because the volumes of %s were not asked for anything.",
                   report->offer->name);
    } else {
        compare(a, report);
    }
    if (histogram_quantile(&windows->burst[FLOW_DATA], 0.99, false, &burst) &&
        histogram_quantile(&windows->steady[FLOW_DATA], 0.99, false, &steady))
        answer_add(a, "In bursts the p99 of reads and writes was %s, outside of them %s.", human_ns(in, (double)burst),
            human_ns(out, (double)steady));
    add_queue(a, &report->totals.backends);
    add_peak(a, &report->totals.series);
}
