/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/text_scenario.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/human.h"
#include "analyzer/scenario.h"
#include "lib/cleanup.h"

#define DEMAND_COLUMNS   14
#define PLATFORM_COLUMNS 16

/* Left-aligned, and cut where it is longer. */
static void word(const struct pen *pen, const char *text, unsigned columns)
{
    fprintf(pen->out, "%*s  ", (int)(columns - draw_text(pen, text, columns)), "");
}

/* Right-aligned; a dash for what is not known. */
static void percent(const struct pen *pen, double share, int columns)
{
    if (isnan(share))
        fprintf(pen->out, "%*s  ", columns + 2, "-");
    else
        fprintf(pen->out, "%*.0f %%  ", columns, 100 * share);
}

static void show(const struct pen *pen, const struct scenario_result *r)
{
    char nodes[32], text[HUMAN_SIZE];

    fputs("  ", pen->out);
    word(pen, r->scenario->name, DEMAND_COLUMNS);
    word(pen, r->offer->name, PLATFORM_COLUMNS);
    snprintf(nodes, sizeof(nodes), "%u of %u", r->nodes, r->offer->nodes);
    fprintf(pen->out, "%7s  ", nodes);
    percent(pen, r->use_mean, 4);
    percent(pen, r->use_max, 4);
    word(pen, isnan(r->use_max) ? "-" : metric_words[r->binding], 9);
    percent(pen, r->served, 4);
    fprintf(pen->out, "%5s  ", isnan(r->ops_s) ? "-" : human_rate(text, r->ops_s));
    fprintf(pen->out, "%7s", isnan(r->latency99_ns) ? "-" : human_ns(text, r->latency99_ns));
    fprintf(pen->out, "%s\n", r->beyond_full   ? "  a guess: over 80 %"
                              : r->beyond_seen ? "  a guess: over twice what was seen"
                                               : "");
}

int text_scenarios(const struct pen *pen, const struct report *report)
{
    unsigned wanted = report->scenarios ? report->scenarios->count : 0, count;
    _cleanup_free_ struct scenario_result *results = calloc(2 * wanted + 1, sizeof(*results));

    if (!results)
        return -ENOMEM;
    count = wanted ? scenarios_run(report->scenarios, report, results) : 0;
    if (!count && !report->offer)
        return 0;
    fputc('\n', pen->out);
    if (!count) {
        fputs("What if: cannot tell, because the volumes of that platform were not asked for anything\n", pen->out);
        return 0;
    }
    draw_tone(pen, TONE_STRONG);
    fprintf(pen->out, "%-*s  %-*s  %7s  %6s  %6s  %-9s  %6s  %5s  %7s", DEMAND_COLUMNS + 2, "What if", PLATFORM_COLUMNS,
            "platform", "nodes", "mean", "peak", "by", "served", "ops/s", "p99");
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
    for (unsigned i = 0; i < count; i++)
        show(pen, &results[i]);
    fputs("  mean and peak second: of what it can do, by the nearest limit; unblend-platform(5) has the model\n", pen->out);
    return 0;
}
