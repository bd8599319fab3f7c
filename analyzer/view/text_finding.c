/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/text_finding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/view/text.h"

#define DETAIL_COLUMN 11 /* behind the severity */

static enum tone tone_of(const struct finding *finding)
{
    return strcmp(finding->severity, "critical") == 0 || strcmp(finding->severity, "high") == 0 ? TONE_BAD : TONE_PLAIN;
}

/* "small-reads: train on nas:/data, 2 s to 3 s of waiting (80 % sure)" */
static void write_headline(const struct pen *pen, const struct finding *f)
{
    char low[HUMAN_SIZE], high[HUMAN_SIZE];

    fprintf(pen->out, "%s", f->id);
    if (f->job) {
        fputs(": ", pen->out);
        draw_text(pen, f->job, 30);
    }
    if (f->volume) {
        fputs(" on ", pen->out);
        draw_text(pen, f->volume, 30);
    }
    if (f->cost_high > 0 && !(f->cost_low > 0))
        fprintf(pen->out, ", up to %s of waiting", human_ns(high, 1e9 * f->cost_high));
    else if (f->cost_high > 0 && f->cost_low < f->cost_high)
        fprintf(pen->out, ", %s to %s of waiting", human_ns(low, 1e9 * f->cost_low), human_ns(high, 1e9 * f->cost_high));
    else if (f->cost_high > 0)
        fprintf(pen->out, ", %s of waiting", human_ns(high, 1e9 * f->cost_high));
    fprintf(pen->out, " (%.0f %% sure)", 100 * f->confidence);
}

static void show(const struct pen *pen, const struct finding *f)
{
    const char *sentences[2] = {f->evidence_count ? f->evidence[0] : "", f->remedy};
    struct draft headline;

    fputs("  ", pen->out);
    draw_tone(pen, tone_of(f));
    fprintf(pen->out, "%-8s ", f->severity);
    draw_tone(pen, TONE_PLAIN);
    draft_begin(&headline, pen);
    write_headline(&headline.pen, f);
    draft_end(&headline, DETAIL_COLUMN, DETAIL_COLUMN, TEXT_WIDTH);
    draw_tone(pen, TONE_FAINT);
    draw_paragraph(pen, sentences, 2, DETAIL_COLUMN, TEXT_WIDTH);
    draw_tone(pen, TONE_PLAIN);
}

void text_findings(const struct pen *pen, const struct report *report)
{
    const struct finding_list *findings = &report->findings;
    double span_s = (double)(report->totals.end_ns - report->totals.start_ns) / 1e9;
    uint32_t shown = 0, trifles = 0, more;

    if (!findings->count)
        return;
    fputc('\n', pen->out);
    draw_tone(pen, TONE_STRONG);
    fputs("Findings, the dearest first", pen->out);
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
    for (uint32_t i = 0; i < findings->count; i++) {
        if (finding_is_trifle(&findings->list[i], span_s))
            trifles++;
        else if (shown < TEXT_FINDINGS) {
            show(pen, &findings->list[i]);
            shown++;
        }
    }
    more = findings->count - shown;
    if (more)
        fprintf(pen->out, "  %s%u %s; --format json has all\n", shown ? "and " : "", more,
                more == trifles ? "that cost less than 1 % of the time each" : "more");
}
