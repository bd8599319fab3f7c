/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/cost.h"

#include <math.h>

#include "analyzer/wait.h"

#define HOURS_A_YEAR (365.25 * 24)

const struct cost_info cost_infos[COST_FIGURES] = {
    [COST_PRICE] = {"price", "all of it", true},
    [COST_TB] = {"price_per_tb", "a TB", true},
    [COST_TB_YEAR] = {"price_per_tb_year", "a TB and year", true},
    [COST_HOUR] = {"price_per_hour", "an hour", true},
    [COST_JOB] = {"price_per_job", "each job of this report", true},
    [COST_CORES] = {"converged_cores", "cores taken from jobs", false},
    [COST_GPU_HOURS] = {"gpu_hours_lost", "GPU-hours lost to storage, at least", false},
};

static const char no_platform[] = "no platform was described (--platform)";
static const char no_price[] = "the platform file gives no price, nor one for each of its tiers";
static const char no_capacity[] = "the platform file does not say capacity_bytes";
static const char no_years[] = "the platform file does not say for how many years its price is";

static void know(struct cost *cost, enum cost_figure figure, double value, const char *why)
{
    cost->figure[figure] = why ? NAN : value;
    cost->why[figure] = why;
}

/* NAN where one of them is not told: a sum of some is not what they cost. */
static double sum_of_tiers(const struct offer *offer)
{
    double sum = offer->tier_count ? 0 : NAN;

    for (unsigned i = 0; i < offer->tier_count; i++)
        sum += offer->tiers[i].price;
    return sum;
}

static const char *why_no_job(const struct aggregate *totals)
{
    if (totals->grouping != GROUP_JOB)
        return "the report does not add up by job";
    if (!totals->job_count)
        return "no job was seen";
    return totals->end_ns > totals->start_ns ? NULL : "no time was watched";
}

void cost_of(const struct report *report, struct cost *out)
{
    const struct offer *offer = report->offer;
    const struct aggregate *totals = &report->totals;
    const char *why, *why_job = why_no_job(totals);
    const struct job_total *worst;
    struct gpu_loss loss;
    bool watched = gpu_loss_sum(totals, &loss, &worst);
    double price, bytes, years, hours;

    *out = (struct cost){0};
    know(out, COST_GPU_HOURS, loss.low_h,
         worst ? NULL : watched ? "jobs on GPUs were never without I/O" : "no GPU was watched");
    if (!offer) {
        for (enum cost_figure f = COST_PRICE; f < COST_GPU_HOURS; f++)
            know(out, f, NAN, no_platform);
        return;
    }
    price = offer->figure[OFFER_PRICE];
    out->of_tiers = isnan(price);
    if (out->of_tiers)
        price = sum_of_tiers(offer);
    out->of_tiers = out->of_tiers && !isnan(price);
    bytes = offer->figure[OFFER_CAPACITY];
    years = offer->figure[OFFER_YEARS];
    hours = years * HOURS_A_YEAR;
    why = isnan(price) ? no_price : NULL;
    know(out, COST_PRICE, price, why);
    know(out, COST_TB, price / bytes * 1e12, why ? why : isnan(bytes) ? no_capacity : NULL);
    know(out, COST_TB_YEAR, price / bytes * 1e12 / years,
         why ? why : isnan(bytes) ? no_capacity : isnan(years) ? no_years : NULL);
    know(out, COST_HOUR, price / hours, why ? why : isnan(years) ? no_years : NULL);
    why = out->why[COST_HOUR] ? out->why[COST_HOUR] : why_job;
    know(out, COST_JOB,
         why ? NAN : price / hours * ((double)(totals->end_ns - totals->start_ns) / 3600e9) / totals->job_count, why);
    know(out, COST_CORES, offer->nodes * offer->figure[OFFER_NODE_CORES],
         !offer->converged                            ? "its nodes run no jobs (converged is not true)"
         : isnan(offer->figure[OFFER_NODE_CORES]) ? "the platform file does not say node_cores"
                                                      : NULL);
}

double cost_of_tier(const struct offer_tier *tier, const char **why)
{
    *why = isnan(tier->price)   ? "the platform file gives this tier no price"
           : isnan(tier->bytes) ? "the platform file does not say this tier's capacity_bytes"
                                : NULL;
    return *why ? NAN : tier->price / tier->bytes * 1e12;
}
