/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/text_cost.h"

#include "analyzer/cost.h"
#include "analyzer/human.h"
#include "analyzer/view/text.h"

#define NAME_COLUMNS 28

static void show_row(const struct pen *pen, const char *name, double value, const char *unit, const char *why)
{
    char text[HUMAN_SIZE];
    struct draft line;

    fputs("  ", pen->out);
    fprintf(pen->out, "%*s", (int)(NAME_COLUMNS - draw_text(pen, name, NAME_COLUMNS)), "");
    if (why) {
        fputs("  ", pen->out);
        draft_begin(&line, pen);
        fprintf(line.pen.out, "cannot tell, because %s", why);
        draft_end(&line, NAME_COLUMNS + 4, NAME_COLUMNS + 4, TEXT_WIDTH);
        return;
    }
    fprintf(pen->out, "  %s%s", human_money(text, value), *unit ? " " : "");
    draw_text(pen, unit, 0);
    fputc('\n', pen->out);
}

void text_cost(const struct pen *pen, const struct report *report)
{
    const struct offer *offer = report->offer;
    const char *currency = offer && offer->currency ? offer->currency : "";
    struct cost cost;

    if (!offer)
        return;
    cost_of(report, &cost);
    fputc('\n', pen->out);
    draw_tone(pen, TONE_STRONG);
    fputs("What ", pen->out);
    draw_text(pen, offer->name, 60);
    fputs(" costs", pen->out);
    draw_tone(pen, TONE_PLAIN);
    fputs(cost.of_tiers ? ", by the prices of its tiers\n" : "\n", pen->out);
    for (enum cost_figure f = COST_PRICE; f < COST_FIGURES; f++)
        show_row(pen, cost_infos[f].words, cost.figure[f], cost_infos[f].money ? currency : "", cost.why[f]);
    for (unsigned i = 0; i < offer->tier_count; i++) {
        char name[4 * NAME_COLUMNS + 1];
        const char *why;
        double per_tb = cost_of_tier(&offer->tiers[i], &why);

        snprintf(name, sizeof(name), "a TB of %s", offer->tiers[i].name);
        show_row(pen, name, per_tb, currency, why);
    }
}
