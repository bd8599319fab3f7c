/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/view/compare.h"
#include "analyzer/view/draw.h"
#include "analyzer/view/text_cost.h"
#include "analyzer/view/text_finding.h"
#include "analyzer/view/text_scenario.h"
#include "analyzer/view/text_storage.h"
#include "analyzer/view/view.h"

#define DETAILED_JOBS 5
#define LISTED_JOBS   20
#define MEETINGS      3

static void title(const struct pen *pen, const char *text)
{
    draw_tone(pen, TONE_STRONG);
    fputs(text, pen->out);
    draw_tone(pen, TONE_PLAIN);
}

static void show_span(const struct pen *pen, const struct report *report)
{
    const struct aggregate *totals = &report->totals;
    char start[HUMAN_SIZE], end[HUMAN_SIZE], length[HUMAN_SIZE], interval[HUMAN_SIZE];
    int clock = human_clock(totals->end_ns - totals->start_ns);

    human_time(start, totals->start_ns);
    human_time(end, totals->end_ns);
    human_duration(length, (double)(totals->end_ns - totals->start_ns) / 1e9);
    human_duration(interval, totals->interval_ms / 1e3);
    title(pen, "Span      ");
    start[10] = end[10] = ' ';
    if (clock > 8) /* both ends would not fit in */
        fprintf(pen->out, "%.*s UTC, for %s in intervals of %s\n", 11 + clock, start, length, interval);
    else
        fprintf(pen->out, "%.19s to %.*s UTC, %s in intervals of %s\n", start,
                strncmp(start, end, 10) == 0 ? 8 : 19, strncmp(start, end, 10) == 0 ? end + 11 : end, length, interval);
    title(pen, "Nodes     ");
    for (uint32_t i = 0; i < totals->node_count && i < 6; i++) {
        fputs(i ? ", " : "", pen->out);
        draw_text(pen, totals->nodes[i].node, 40);
    }
    if (totals->node_count > 6)
        fprintf(pen->out, " and %u more", totals->node_count - 6);
    fputc('\n', pen->out);
}

/* Of the node where it is highest; no line where no kernel tells. */
static void show_pressure(const struct pen *pen, const struct aggregate *totals)
{
    const struct node_total *highest = NULL;
    double some = -1;
    unsigned known = 0;

    for (uint32_t i = 0; i < totals->node_count; i++) {
        const struct node_total *node = &totals->nodes[i];
        double share = node_pressure(node, node->pressure.some_ns);

        known += !isnan(share);
        if (share > some) {
            some = share;
            highest = node;
        }
    }
    if (!highest)
        return;
    title(pen, "Pressure  ");
    fprintf(pen->out, "tasks waited for I/O %.3g %% of the time, all at once %.3g %%,\n          as the kernel sees it",
            100 * some, 100 * node_pressure(highest, highest->pressure.full_ns));
    if (known > 1) {
        fputs(" on ", pen->out);
        draw_text(pen, highest->node, 40);
    }
    fputc('\n', pen->out);
}

static void show_shed(const struct pen *pen, const uint64_t shed_ms[SHED_COUNT])
{
    static const char *const what[SHED_COUNT] = {
        "by job only", "metadata only: reads and writes are missing", "detached: everything is missing"};
    char span[HUMAN_SIZE];

    for (unsigned i = 0; i < SHED_COUNT; i++)
        if (shed_ms[i])
            fprintf(pen->out, "          %s %s (watching cost more than --max-cost)\n",
                    human_duration(span, (double)shed_ms[i] / 1e3), what[i]);
}

/* What was not watched, or by two. */
static void show_watched(const struct pen *pen, const struct report *report)
{
    const struct aggregate *totals = &report->totals;
    const struct job_total *first = NULL;
    uint32_t unended = report_unended(report, &first);
    char span[HUMAN_SIZE];

    if (unended) {
        fputs("          ", pen->out);
        draw_text(pen, first->name, 26);
        if (unended > 1)
            fprintf(pen->out, " and %u more", unended - 1);
        fputs(" had not ended when the recording did\n", pen->out);
    }
    if (totals->unwatched_ns)
        fprintf(pen->out, "          not watched for %s between recordings, which is no idle time\n",
                human_duration(span, (double)totals->unwatched_ns / 1e9));
    if (totals->twice_ns)
        fprintf(pen->out, "          recordings overlap for %s: what both of them saw counts twice\n",
                human_duration(span, (double)totals->twice_ns / 1e9));
    if (report->clocks)
        draw_paragraph(pen, (const char *const *)&report->clocks, 1, 10, TEXT_WIDTH);
}

/* One line that is always there, whether it is good news or not. */
static void show_coverage(const struct pen *pen, const struct report *report)
{
    const struct aggregate *totals = &report->totals;
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE];
    const struct job_total *first;
    bool good = !totals->lost && !totals->overflow && !totals->dropped_batches && !report->damaged &&
                !totals->shed_ms[SHED_METADATA_ONLY] && !totals->shed_ms[SHED_DETACHED] &&
                !aggregate_shed_unknown(totals) && !totals->twice_ns && !report_unended(report, &first);
    unsigned unavailable = aggregate_missing_hooks(totals);
    const char *unseen = aggregate_missing_way(totals);

    title(pen, "Coverage  ");
    draw_tone(pen, !good ? TONE_BAD : unseen ? TONE_PLAIN : TONE_GOOD);
    fputs(good ? "complete" : "incomplete", pen->out);
    if (good && unseen)
        fprintf(pen->out, " but for %s", unseen);
    draw_tone(pen, TONE_PLAIN);
    fprintf(pen->out, ": %s lost, %s under a coarser key,\n          %s without a job or volume, %s in flight",
            human_count(a, totals->lost), human_count(b, totals->overflow),
            human_count(c, totals->unattributed), human_count(d, report->in_flight));
    fprintf(pen->out, "%s\n", report->damaged ? "; a file was damaged" : "");
    if (totals->dropped_batches)
        fprintf(pen->out, "          %s batch%s dropped on the way to the collector, with %s%s operation%s\n",
                human_count(a, totals->dropped_batches), totals->dropped_batches == 1 ? "" : "es",
                totals->dropped_unknown ? "at least " : "", human_count(b, totals->dropped_ops),
                totals->dropped_ops == 1 ? "" : "s");
    show_watched(pen, report);
    show_shed(pen, totals->shed_ms);
    if (unavailable || totals->bypass_count)
        fprintf(pen->out,
                "          %u hook%s unavailable, %u way%s around the kernel found (below)\n",
                unavailable, unavailable == 1 ? "" : "s", totals->bypass_count,
                totals->bypass_count == 1 ? "" : "s");
}

static void show_job_list(const struct pen *pen, const struct report *report)
{
    const struct aggregate *totals = &report->totals;
    char ops[HUMAN_SIZE], read[HUMAN_SIZE], written[HUMAN_SIZE];

    fputc('\n', pen->out);
    title(pen,
          "Job                         operations     read  written    meta  mostly");
    fputc('\n', pen->out);
    for (uint32_t i = 0; i < totals->job_count && i < LISTED_JOBS; i++) {
        const struct job_total *job = &totals->jobs[i];
        const struct profile_list *list = &report->profiles[i];
        struct ratios ratios;
        unsigned columns = draw_text(pen, job->name, 26);

        ratios_of(&job->tally, &ratios);
        human_count(ops, tally_file_ops(&job->tally));
        human_bytes(read, (double)job->tally.op[OP_READ].bytes);
        human_bytes(written, (double)job->tally.op[OP_WRITE].bytes);
        fprintf(pen->out, "%*s %11s %8s %8s ", (int)(26 - columns), "", ops, read, written);
        if (isnan(ratios.metadata_ops))
            fputs("     -  ", pen->out);
        else
            fprintf(pen->out, "%4.0f %%  ", 100 * ratios.metadata_ops);
        fprintf(pen->out, "%s\n", list->count ? list->shares[0].profile : "-");
    }
    if (totals->job_count > LISTED_JOBS)
        fprintf(pen->out, "and %u more jobs; --job GLOB selects, --format json has all\n",
                totals->job_count - LISTED_JOBS);
}

static void show_gaps(const struct pen *pen, const struct report *report)
{
    fputc('\n', pen->out);
    title(pen, "Not seen\n");
    for (uint32_t i = 0; i < report->totals.hook_count; i++)
        if (report->totals.hooks[i].missing) {
            const char *why = report->totals.hooks[i].told;

            fputs("  ", pen->out);
            draw_text(pen, report->totals.hooks[i].name, 0);
            fputc('\n', pen->out);
            draw_paragraph(pen, &why, 1, 4, TEXT_WIDTH);
        }
    for (uint32_t i = 0; i < report->totals.bypass_count; i++) {
        const struct bypass_total *bypass = &report->totals.bypasses[i];

        fputs("  ", pen->out);
        draw_text(pen, bypass->what, 0);
        fputs(" on ", pen->out);
        draw_text(pen, bypass->device, 0);
        fputc('\n', pen->out);
        draw_paragraph(pen, &bypass->why, 1, 4, TEXT_WIDTH);
    }
    draw_tone(pen, TONE_FAINT);
    for (const struct gap **gap = report->gaps; *gap; gap++)
        draw_paragraph(pen, &(*gap)->why, 1, 2, TEXT_WIDTH);
    draw_tone(pen, TONE_PLAIN);
}

static void show_blend(struct pen *pen, const struct report *report)
{
    char together[HUMAN_SIZE], alone[HUMAN_SIZE];

    fprintf(pen->out, "\nA volume sees %s%.1f profiles at a time, weighed by time (blend index %.2f).\n",
            report_mingles(report) ? "up to " : "", report->blend.effective, report->blend.blend);
    if (report_mingles(report))
        fputs("What a process or a sum did one after the other is taken to be at once.\n", pen->out);
    for (uint32_t i = 0; i < report->blend.meeting_count && i < MEETINGS; i++) {
        const struct meeting *m = &report->blend.meetings[i];
        struct draft line;

        if (!(m->cost_s > 0))
            break;
        if (m->together_ns <= m->alone_high_ns)
            continue; /* no longer than alone, as far as that is known */
        human_ns(together, m->together_ns);
        human_ns(alone, m->alone_ns);
        draft_begin(&line, pen);
        draw_text(&line.pen, report->totals.jobs[m->victim].name, 0);
        fputs(" meets ", line.pen.out);
        draw_text(&line.pen, report->totals.jobs[m->other].name, 0);
        fputs(" on ", line.pen.out);
        draw_text(&line.pen, m->volume->name, 0);
        fprintf(line.pen.out, " for %.0f s: its operations take %s instead of %s", m->seconds, together, alone);
        if (isnan(m->alone_high_ns))
            fputs(" (how sure that is cannot be told)", line.pen.out);
        else
            fprintf(line.pen.out, " (%s to %s)", human_ns(together, m->alone_low_ns), human_ns(alone, m->alone_high_ns));
        draft_end(&line, 0, 2, TEXT_WIDTH);
    }
}

static int write_text(struct report *report, FILE *out)
{
    struct aggregate *totals = &report->totals;
    struct pen pen;
    int err;

    pen_init(&pen, out);
    if (!totals->batches || (report->selected && !totals->job_count)) {
        fprintf(out, "Nothing was recorded in what was asked for%s", report->asked ? ": " : "");
        if (report->asked)
            draw_text(&pen, report->asked, 0);
        fputs(".\n", out);
        return 0;
    }
    show_span(&pen, report);
    show_coverage(&pen, report);
    show_pressure(&pen, &report->totals);
    if (report->comparison)
        compare_text(&pen, report->comparison);
    text_findings(&pen, report);
    if (totals->job_count > 1)
        show_job_list(&pen, report);
    for (uint32_t i = 0; i < totals->job_count && i < DETAILED_JOBS; i++)
        text_job(&pen, &totals->jobs[i], &report->profiles[i], totals);
    if (!totals->job_count)
        fputs("\nNo storage I/O was seen.\n", out);
    if (!isnan(report->blend.effective))
        show_blend(&pen, report);
    text_storage(&pen, report);
    err = text_scenarios(&pen, report);
    text_cost(&pen, report);
    show_gaps(&pen, report);
    return err;
}

const struct view view_text = {"text", write_text};
