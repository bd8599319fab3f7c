/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a scenario would ask of a platform, and how long that would take. */
#include "analyzer/scenario.h"

#include <math.h>
#include <string.h>

#include "analyzer/queueing.h"

/* By how much a metric's demand is multiplied: by profile, as their shares of it are. NAN when nobody knows whose it is. */
static double factor_of(const struct scenario *s, const struct capacity_offer *c, enum metric_id metric)
{
    double before = 0, after = 0;

    if (!s->factor_count)
        return s->all;
    for (uint32_t i = 0; i < c->share_count; i++) {
        double sum = c->shares[i].sum[metric], factor = 1;

        for (unsigned f = 0; f < s->factor_count; f++)
            if (strcmp(s->factors[f].profile, c->shares[i].profile) == 0)
                factor = s->factors[f].factor;
        before += sum;
        after += factor * sum;
    }
    return before > 0 ? after / before : c->share_count ? 1 : NAN;
}

static bool fill_demand(const struct scenario *s, const struct capacity_offer *c, struct scenario_result *out)
{
    const struct capacity_entry *entry = &c->entry;
    unsigned w = CAPACITY_SECOND;

    while (w < CAPACITY_WINDOWS && !entry->demand[METRIC_READ_OPS][w].known)
        w++;
    if (w == CAPACITY_WINDOWS)
        return false;
    out->reached = entry->reached;
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        const struct capacity_demand *d = &entry->demand[m][w];
        double factor = factor_of(s, c, m);

        if (isnan(factor))
            return false;
        out->mean[m] = d->known ? factor * d->mean : NAN;
        out->p95[m] = d->known ? factor * d->p95 : NAN;
        out->max[m] = d->known ? factor * d->max : NAN;
        out->beyond_seen |= d->known && d->max > 0 && factor > SCENARIO_SEEN;
    }
    return true;
}

/* Reads and writes share a limit, so their shares of it add up. */
static void fill_use(const double limits[METRIC_COUNT], struct scenario_result *out)
{
    static const enum metric_id pools[][2] = {
        {METRIC_READ_BYTES, METRIC_WRITE_BYTES},
        {METRIC_READ_OPS, METRIC_WRITE_OPS},
        {METRIC_METADATA_OPS, METRIC_COUNT}};

    for (size_t p = 0; p < sizeof(pools) / sizeof(*pools); p++) {
        double mean = 0, p95 = 0, max = 0, largest = 0;
        enum metric_id binding = pools[p][0];

        for (unsigned side = 0; side < 2; side++) {
            enum metric_id m = pools[p][side];

            if (m == METRIC_COUNT || isnan(limits[m]) || isnan(out->max[m]))
                continue;
            mean += out->mean[m] / limits[m];
            p95 += out->p95[m] / limits[m];
            max += out->max[m] / limits[m];
            if (out->max[m] / limits[m] > largest) {
                largest = out->max[m] / limits[m];
                binding = m;
            }
        }
        if (max > out->use_max) {
            out->use_mean = mean;
            out->use_p95 = p95;
            out->use_max = max;
            out->binding = binding;
        }
    }
    out->served = out->use_max > 1 ? 1 / out->use_max : 1;
    out->beyond_full = out->use_max > SCENARIO_FULL;
}

/* The 99th percentile of reads and writes on shared volumes, as programs saw it; NAN when there were none. */
static double seen99(const struct report *report)
{
    for (uint32_t i = 0; i < report->capacity.required_count; i++)
        if (report->capacity.required[i].metric == METRIC_READ_OPS)
            return (double)report->capacity.required[i].latency_p99_ns / 1e9;
    return NAN;
}

/*
 * The station's rate is what it can do of the mix that is asked for; requesters are as many as were in flight at once,
 * at a look or on average over a second; each thinks for the rest of its time, by Little's law. How much they keep out
 * of each other's way is what comes out as the recorded time of an answer. What the recorded p99 has beyond the model's
 * own wait stays as it is.
 */
static void fill_latency(const struct report *report, const struct capacity_offer *c, const struct offer *offer,
                         struct scenario_result *out)
{
    const struct capacity_entry *entry = &c->entry;
    double recorded = 0, asked = 0, p99 = seen99(report);
    double inside = entry->demand[METRIC_IN_FLIGHT][CAPACITY_SECOND].mean;
    double requesters = fmax(fmax(c->looked, entry->demand[METRIC_IN_FLIGHT][CAPACITY_SECOND].max), 1);
    double scale, service = offer->figure[OFFER_LATENCY_US] / 1e6;
    struct queueing q;
    struct queueing_result before, after;

    out->ops_s = out->latency_ns = out->latency99_ns = NAN;
    for (enum metric_id m = METRIC_READ_OPS; m <= METRIC_METADATA_OPS; m++) {
        recorded += entry->demand[m][CAPACITY_SECOND].known ? entry->demand[m][CAPACITY_SECOND].mean : 0;
        asked += isnan(out->mean[m]) ? 0 : out->mean[m];
    }
    if (!(service > 0) || !(recorded > 0) || !(out->use_mean > 0) || !(inside > 0))
        return;
    scale = asked / recorded;
    q = (struct queueing){requesters, fmax((requesters - inside) / recorded, 0), service,
                          asked / out->use_mean * service, 1};
    q.crowding = queueing_crowding(&q, inside / recorded);
    queueing_solve(&q, &before);
    q.requesters *= scale;
    queueing_solve(&q, &after);
    out->ops_s = fmin(after.rate, asked);
    out->latency_ns = after.response_s * 1e9;
    if (!isnan(p99) && p99 > 0)
        out->latency99_ns = (fmax(p99 - before.wait99_s, service) + after.wait99_s) * 1e9;
}

/* One scenario, with all nodes and without those that may fail. Returns how many results that makes. */
static unsigned run(const struct scenario *s, const struct report *report, const struct capacity_offer *c,
                    const struct offer *offer, struct scenario_result *out)
{
    unsigned count = 0;

    for (unsigned lost = 0; lost <= offer->failures; lost += offer->failures ? offer->failures : 1) {
        struct scenario_result *r = &out[count];
        double limits[METRIC_COUNT];

        *r = (struct scenario_result){.scenario = s, .offer = offer, .nodes = offer->nodes - lost};
        for (unsigned m = 0; m < METRIC_COUNT; m++)
            limits[m] = NAN;
        offer_limits(offer, r->nodes, limits);
        if (!fill_demand(s, c, r))
            continue;
        fill_use(limits, r);
        fill_latency(report, c, offer, r);
        count++;
    }
    return count;
}

unsigned scenarios_run(const struct scenario_list *list, const struct report *report, struct scenario_result *out)
{
    unsigned count = 0;

    for (unsigned i = 0; i < list->count; i++) {
        const struct scenario *s = &list->list[i];
        struct capacity_offer other = {0};

        if (!s->has_offer && report->offer && report->capacity.platform.known)
            count += run(s, report, &report->capacity.platform, report->offer, &out[count]);
        else if (s->has_offer && !capacity_of_offer(&report->totals, report->profiles, &s->offer, &other) && other.known)
            count += run(s, report, &other, &s->offer, &out[count]);
        capacity_offer_clear(&other);
    }
    return count;
}
