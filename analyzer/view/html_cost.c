/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the platform costs. */
#include "analyzer/view/html.h"

#include <math.h>

#include "analyzer/cost.h"

/* Sentences wrap; what is in html_words() is cut short where it is long. */
static void sentence(FILE *out, const char *text)
{
    fputs("<td class=\"words\">", out);
    html_text(out, text);
    fputs("</td>", out);
}

static void price_of_tiers(FILE *out, const struct offer *offer)
{
    static const char *const columns[] = {"<Tier", "TB", "Price", "A TB", "<Why not", NULL};
    char text[HUMAN_SIZE];

    if (!offer->tier_count)
        return;
    html_table(out, "What its tiers cost", columns);
    for (unsigned i = 0; i < offer->tier_count; i++) {
        const struct offer_tier *tier = &offer->tiers[i];
        const char *why;
        double per_tb = cost_of_tier(tier, &why);

        fputs("<tr>", out);
        html_name(out, tier->name);
        html_cell(out, isnan(tier->bytes) ? "" : human_money(text, tier->bytes / 1e12), tier->bytes);
        html_cell(out, isnan(tier->price) ? "" : human_money(text, tier->price), tier->price);
        html_cell(out, isnan(per_tb) ? "" : human_money(text, per_tb), per_tb);
        sentence(out, why ? why : "");
        fputs("</tr>\n", out);
    }
    html_table_end(out);
}

void html_cost(FILE *out, const struct report *report)
{
    static const char *const columns[] = {"<Cost of", "Figure", "<Unit, or why not", NULL};
    const char *currency = report->offer->currency ? report->offer->currency : "";
    struct cost cost;
    char text[HUMAN_SIZE];

    cost_of(report, &cost);
    fputs("<div class=\"costs\">\n", out);
    html_table(out, cost.of_tiers ? "What it costs; the price is that of its tiers together" : "What it costs",
               columns);
    for (enum cost_figure f = COST_PRICE; f < COST_FIGURES; f++) {
        double value = cost.figure[f];

        fputs("<tr>", out);
        html_name(out, cost_infos[f].words);
        html_cell(out, isnan(value) ? "" : human_money(text, value), value);
        sentence(out, cost.why[f] ? cost.why[f] : cost_infos[f].money ? currency : "");
        fputs("</tr>\n", out);
    }
    html_table_end(out);
    price_of_tiers(out, report->offer);
    fputs("</div>\n", out);
}
