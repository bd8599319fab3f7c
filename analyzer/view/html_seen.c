/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong, and what was not seen. */
#include "analyzer/view/html.h"

#include <math.h>
#include <string.h>

#define FINDINGS 24 /* that are listed */

/* What can be told without findings: calls that fail, and who hangs. */
static void failures(FILE *out, const struct aggregate *totals)
{
    static const char *const columns[] = {"<Job", "<Operation", "Failed", "Of", "Their share", NULL};
    bool any = false;

    for (uint32_t i = 0; i < totals->job_count; i++)
        for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
            const struct record *record = &totals->jobs[i].tally.op[op];
            uint64_t ops = record_ops(record);

            if (record->errors < 10 || 100 * record->errors < ops)
                continue;
            if (!any)
                html_table(out, "Calls that fail: one in a hundred, or more", columns);
            any = true;
            fputs("<tr>", out);
            html_name(out, totals->jobs[i].name);
            html_words(out, operation_info(op)->name);
            html_count(out, record->errors);
            html_count(out, ops);
            html_percent(out, (double)record->errors / (double)ops);
            fputs("</tr>\n", out);
        }
    if (any)
        html_table_end(out);
    else
        fputs("<p>No job has one call in a hundred fail.</p>\n", out);
}

static void stuck(FILE *out, const struct aggregate *totals)
{
    char age[HUMAN_SIZE];
    unsigned count = 0;

    for (uint32_t j = 0; j < totals->job_count; j++)
        for (uint32_t v = 0; v < totals->jobs[j].volume_count; v++)
            for (uint32_t i = 0; i < totals->jobs[j].volumes[v].stuck_count; i++) {
                const struct stuck *s = &totals->jobs[j].volumes[v].stuck[i];

                if (!stuck_now(s, totals) || count++ == 20)
                    continue;
                fprintf(out, "<p class=\"bad-text\">Stuck for %s: ", human_ns(age, (double)s->oldest_ns));
                html_text(out, s->command);
                fprintf(out, " (process %u on ", s->pid);
                html_text(out, s->node);
                fprintf(out, ") in %s on ", operation_info(s->op)->name);
                html_text(out, totals->jobs[j].volumes[v].name);
                fputs(".</p>\n", out);
            }
}

static void place(FILE *out, const char *what, const char *name, bool *any)
{
    if (!name)
        return;
    fprintf(out, "%s%s ", *any ? ", " : "", what);
    html_text(out, name);
    *any = true;
}

static void cost(FILE *out, const struct finding *f)
{
    char text[HUMAN_SIZE];

    if (f->cost_low > 0)
        fprintf(out, "%s to ",
                f->cost_low < 60 ? human_ns(text, 1e9 * f->cost_low) : human_duration(text, f->cost_low));
    else
        fputs("up to ", out);
    fprintf(out, "%s in operations",
            f->cost_high < 60 ? human_ns(text, 1e9 * f->cost_high) : human_duration(text, f->cost_high));
}

static void finding(FILE *out, const struct finding *f)
{
    char text[HUMAN_SIZE];
    bool any = false;

    fprintf(out, "<section class=\"answer %s\"><h3>%s: ", strcmp(f->severity, "low") == 0 ? "plain" : "bad",
            f->severity);
    html_text(out, f->id);
    fputs("</h3><p class=\"verdict\">", out);
    html_text(out, f->remedy);
    fputs("</p><p>", out);
    place(out, "job", f->job, &any);
    place(out, "on node", f->node, &any);
    place(out, "on", f->volume, &any);
    place(out, "user", f->user, &any);
    fprintf(out, "%s costs ", any ? ":" : "It");
    cost(out, f);
    if (!isnan(f->gain))
        fprintf(out, "; the remedy saves %s of the job&#8217;s", html_percent_text(text, f->gain));
    fprintf(out, ". Confidence %s.</p><ul class=\"plain\">", html_percent_text(text, f->confidence));
    for (uint32_t i = 0; i < f->evidence_count; i++) {
        fputs("<li>", out);
        html_text(out, f->evidence[i]);
        fputs("</li>", out);
    }
    fputs("</ul></section>\n", out);
}

static void findings(FILE *out, const struct report *report)
{
    const struct finding_list *list = &report->findings;
    double span_s = (double)(report->totals.end_ns - report->totals.start_ns) / 1e9;
    uint32_t shown = 0;

    if (!list->count) {
        fputs("<p>No rule found anything.</p>\n", out);
        return;
    }
    fputs("<div class=\"answers\">\n", out);
    for (uint32_t i = 0; i < list->count && shown < FINDINGS; i++)
        if (!finding_is_trifle(&list->list[i], span_s)) {
            finding(out, &list->list[i]);
            shown++;
        }
    fputs("</div>\n", out);
    if (shown < list->count)
        fprintf(out, "<p class=\"faint\">%s%u that cost less; --format json has all.</p>\n", shown ? "And " : "",
                list->count - shown);
}

int html_wrong(FILE *out, struct report *report)
{
    fputs("<section>\n", out);
    html_heading(out, "wrong", "What is wrong: findings by cost");
    findings(out, report);
    failures(out, &report->totals);
    stuck(out, &report->totals);
    fputs("</section>\n", out);
    return 0;
}

static void gap(FILE *out, const char *name, const char *why)
{
    fputs("<li><b>", out);
    html_text(out, name);
    fputs("</b>: ", out);
    html_text(out, why ? why : "no reason was given");
    fputs("</li>\n", out);
}

static void losses(FILE *out, const struct report *report)
{
    static const char *const columns[] = {"<What", "Count", NULL};
    const struct aggregate *totals = &report->totals;
    const struct {
        const char *what;
        uint64_t count;
    } rows[] = {
        {"operations lost", totals->lost},
        {"in flight at the end, or when their thread died", report->in_flight},
        {"of these, whose thread died inside them", totals->killed},
        {"without a job or volume", totals->unattributed},
        {"under a coarser key", totals->overflow},
        {"batches dropped on the way", totals->dropped_batches},
    };

    html_table(out, NULL, columns);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        fputs("<tr>", out);
        html_name(out, rows[i].what);
        html_count(out, rows[i].count);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
}

static void shed(FILE *out, const uint64_t shed_ms[SHED_COUNT])
{
    static const char *const what[SHED_COUNT] = {
        "watched by job only", "reads and writes are missing", "everything is missing"};
    char span[HUMAN_SIZE];

    for (unsigned i = 0; i < SHED_COUNT; i++)
        if (shed_ms[i])
            fprintf(out, "<p>For %s, %s: watching cost more than --max-cost allows.</p>\n",
                    human_duration(span, (double)shed_ms[i] / 1e3), what[i]);
}

int html_unseen(FILE *out, struct report *report)
{
    const struct aggregate *totals = &report->totals;

    fputs("<section>\n", out);
    html_heading(out, "unseen", "What was not seen");
    if (report->damaged)
        fputs("<p class=\"bad-text\">A recording was damaged; what is left of it was read.</p>\n", out);
    losses(out, report);
    shed(out, totals->shed_ms);
    fputs("<ul class=\"plain\">\n", out);
    for (uint32_t i = 0; i < totals->hook_count; i++)
        if (totals->hooks[i].missing)
            gap(out, totals->hooks[i].name, totals->hooks[i].told);
    for (uint32_t i = 0; i < totals->bypass_count; i++)
        gap(out, totals->bypasses[i].what, totals->bypasses[i].why);
    for (const struct gap **one = report->gaps; *one; one++)
        gap(out, (*one)->hook, (*one)->why);
    fputs("</ul>\n</section>\n", out);
    return 0;
}
