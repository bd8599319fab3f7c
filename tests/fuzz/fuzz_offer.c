/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people write: files of platforms, and scenarios, which must not be taken by halves. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/capacity.h"
#include "analyzer/scenario.h"
#include "lib/cleanup.h"

#define CHECK(holds) ((holds) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_offer(const char *text)
{
    struct offer offer;
    double limits[METRIC_COUNT];

    if (offer_parse(text, "fuzz", &offer))
        return;
    CHECK(offer.name && *offer.name && offer.nodes && offer.failures < offer.nodes);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        limits[m] = NAN;
    offer_limits(&offer, offer.nodes - offer.failures, limits);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        CHECK(isnan(limits[m]) || limits[m] > 0);
    for (unsigned i = 0; i < offer.tier_count; i++)
        CHECK(offer.tiers[i].name);
    offer_clear(&offer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = malloc(size + 1);
    struct scenario_list list;

    CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    check_offer(text);
    if (strchr(text, '@') || scenarios_parse(text, &list)) /* no file is read here */
        return 0;
    for (unsigned i = 0; i < list.count; i++) {
        CHECK(list.list[i].all > 0 && list.list[i].factor_count <= SCENARIO_FACTORS);
        for (unsigned f = 0; f < list.list[i].factor_count; f++)
            CHECK(list.list[i].factors[f].factor > 0);
    }
    scenarios_clear(&list);
    return 0;
}
