/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the platform costs, as JSON. */
#include "analyzer/view/json.h"

#include "analyzer/cost.h"

static json_t *tiers_of(const struct offer *offer)
{
    json_t *list = json_array();
    bool failed = !list;

    for (unsigned i = 0; offer && i < offer->tier_count; i++) {
        const struct offer_tier *tier = &offer->tiers[i];
        const char *why;
        double per_tb = cost_of_tier(tier, &why);

        json_add(&failed, list,
                 json_pack("{s:s,s:o,s:o,s:o,s:o}", "tier", tier->name, "price", json_number(tier->price),
                           "capacity_bytes", json_number(tier->bytes), "price_per_tb", json_number(per_tb), "why",
                           json_text(why)));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *json_cost(const struct report *report)
{
    const struct offer *offer = report->offer;
    json_t *object = json_object(), *why = json_object();
    bool failed = !object || !why;
    struct cost cost;

    cost_of(report, &cost);
    json_put(&failed, object, "platform", json_text(offer ? offer->name : NULL));
    json_put(&failed, object, "currency", json_text(offer ? offer->currency : NULL));
    json_put(&failed, object, "price_source",
             json_text(cost.why[COST_PRICE] ? NULL : cost.of_tiers ? "tiers" : "platform"));
    for (enum cost_figure f = COST_PRICE; f < COST_FIGURES; f++) {
        json_put(&failed, object, cost_infos[f].key, json_number(cost.figure[f]));
        if (cost.why[f])
            json_put(&failed, why, cost_infos[f].key, json_text(cost.why[f]));
    }
    json_put(&failed, object, "tiers", tiers_of(offer));
    json_put(&failed, object, "why", why);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}
