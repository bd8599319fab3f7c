/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The demand on those volumes that a platform is asked to hold. */
#include "analyzer/capacity_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_held(const struct offer *offer, const struct volume_total *volume)
{
    return volume->scope == SCOPE_SHARED && volume->series.length && offer_holds(offer, volume->name);
}

bool capacity_all_held(const struct aggregate *totals, const struct offer *offer)
{
    for (uint32_t i = 0; i < totals->volume_count; i++) {
        const struct volume_total *volume = &totals->volumes[i];

        if (volume->scope == SCOPE_SHARED && volume->series.length && !is_held(offer, volume))
            return false;
    }
    return true;
}

/* Of several volumes added up nobody knows the tenths of seconds. Where it was seen of some of them only what reached
   them, the others' demand is what programs asked for. 0, -ENOMEM or -EINVAL. */
static int merge(const struct aggregate *totals, const struct offer *offer, bool mixed, struct volume_total *sum)
{
    static const double once[DEMAND_COUNT] = {1, 1, 1, 1, 1};
    int err = 0;

    for (uint32_t i = 0; !err && i < totals->volume_count; i++) {
        const struct volume_total *volume = &totals->volumes[i];
        bool seen = mixed && volume->reached.length;

        if (!is_held(offer, volume))
            continue;
        err = series_merge(&sum->series, seen ? &volume->reached : &volume->series, once);
        if (!err)
            err = series_merge(&sum->busy, seen ? &volume->reached_busy : &volume->busy, once);
        if (!err && !mixed)
            err = series_merge(&sum->reached, &volume->reached, once);
        if (!err && !mixed)
            err = series_merge(&sum->reached_busy, &volume->reached_busy, once);
    }
    return err;
}

/* What reached them, where that was seen. */
static int fill(const struct volume_total *volume, bool windows, const struct offer *offer,
                const struct aggregate *totals, struct capacity_entry *entry)
{
    const struct load asked = {&volume->series, &volume->busy, windows ? &volume->windows : NULL};
    const struct load reached = {&volume->reached, &volume->reached_busy, NULL};

    *entry = (struct capacity_entry){.reached = volume->reached.length > 0};
    return capacity_fill(entry->reached ? &reached : &asked, offer, totals, entry);
}

static struct capacity_share *share_of(struct capacity_offer *out, const char *profile)
{
    struct capacity_share *grown;

    for (uint32_t i = 0; i < out->share_count; i++)
        if (strcmp(out->shares[i].profile, profile) == 0)
            return &out->shares[i];
    grown = reallocarray(out->shares, out->share_count + 1u, sizeof(*grown));
    if (!grown)
        return NULL;
    out->shares = grown;
    grown[out->share_count] = (struct capacity_share){.profile = profile};
    return &grown[out->share_count++];
}

static double sum_of(const struct series *series, unsigned demands)
{
    double sum = 0;

    for (uint32_t i = 0; i < series->length; i++)
        sum += (double)demand_sum(&series->slots[i], demands);
    return sum;
}

static void add_share(const struct job_total *job, const struct offer *offer, const struct profile_share *from,
                      struct capacity_share *to)
{
    const double bytes = isnan(from->share_bytes) ? from->share_ops : from->share_bytes;

    for (uint32_t v = 0; v < job->volume_count; v++) {
        const struct volume_total *volume = &job->volumes[v];

        if (!is_held(offer, volume))
            continue;
        for (unsigned m = 0; m < METRIC_IN_FLIGHT; m++)
            to->sum[m] += sum_of(&volume->series, DEMAND_BIT(metrics[m].demand)) *
                          (m == METRIC_READ_BYTES || m == METRIC_WRITE_BYTES ? bytes : from->share_ops);
        to->sum[METRIC_IN_FLIGHT] += sum_of(&volume->busy, BUSY_TIMES) * from->share_ops;
    }
}

static int add_shares(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                      struct capacity_offer *out)
{
    for (uint32_t i = 0; profiles && i < totals->job_count; i++)
        for (uint32_t p = 0; p < profiles[i].count; p++) {
            const struct profile_share *from = &profiles[i].shares[p];
            struct capacity_share *to;

            if (from->pipeline || !(from->share_ops > 0))
                continue;
            to = share_of(out, from->profile);
            if (!to)
                return -ENOMEM;
            add_share(&totals->jobs[i], offer, from, to);
        }
    return 0;
}

int capacity_of_offer(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                      struct capacity_offer *out)
{
    struct volume_total sum = {0};
    const struct volume_total *only = NULL;
    uint32_t held = 0, seen = 0;
    bool mixed;
    int err;

    *out = (struct capacity_offer){.looked = capacity_looked(totals, offer)};
    for (uint32_t i = 0; i < totals->volume_count; i++)
        if (is_held(offer, &totals->volumes[i])) {
            only = &totals->volumes[i];
            seen += only->reached.length > 0;
            held++;
        }
    if (!held)
        return 0;
    mixed = seen && seen < held;
    if (!mixed && capacity_all_held(totals, offer))
        err = fill(&totals->shared, true, offer, totals, &out->entry);
    else if (held == 1)
        err = fill(only, true, offer, totals, &out->entry);
    else if (!(err = merge(totals, offer, mixed, &sum)))
        err = fill(&sum, false, offer, totals, &out->entry);
    series_clear(&sum.series);
    series_clear(&sum.busy);
    series_clear(&sum.reached);
    series_clear(&sum.reached_busy);
    if (!err)
        err = add_shares(totals, profiles, offer, out);
    out->known = !err;
    if (err)
        capacity_offer_clear(out);
    return err;
}

void capacity_offer_clear(struct capacity_offer *offer)
{
    free(offer->shares);
    *offer = (struct capacity_offer){0};
}
