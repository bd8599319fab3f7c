/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/html.h"

#include <errno.h>
#include <string.h>

#include "analyzer/answer.h"
#include "analyzer/view/compare.h"
#include "analyzer/view/view.h"
#include "config.h"

#define NAMED_NODES 6

static void head(FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"Unblend " PACKAGE_VERSION "\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "script-src 'unsafe-inline'\">\n"
          "<title>Storage I/O report</title>\n<style>\n", out);
    fputs(report_css, out);
    fputs("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#who\">Skip the summary</a>\n", out);
}

static void fact(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static void span(FILE *out, const struct aggregate *totals)
{
    char start[HUMAN_SIZE], end[HUMAN_SIZE], length[HUMAN_SIZE], interval[HUMAN_SIZE];
    int clock = human_clock(totals->end_ns - totals->start_ns);

    human_time(start, totals->start_ns);
    human_time(end, totals->end_ns);
    human_duration(length, (double)(totals->end_ns - totals->start_ns) / 1e9);
    human_duration(interval, totals->interval_ms / 1e3);
    fprintf(out, "<p>From <time datetime=\"%s\">%.10s %.*s</time> to <time datetime=\"%s\">%.10s %.*s</time> UTC: %s, "
                 "in intervals of %s. ",
            start, start, clock, start + 11, end, end, clock, end + 11, length, interval);
    fprintf(out, "%u node%s: ", totals->node_count, totals->node_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < totals->node_count && i < NAMED_NODES; i++) {
        fputs(i ? ", " : "", out);
        html_text(out, totals->nodes[i].node);
    }
    if (totals->node_count > NAMED_NODES)
        fprintf(out, " and %u more", totals->node_count - NAMED_NODES);
    fputs(".</p>\n", out);
}

static void facts(FILE *out, const struct report *report)
{
    const struct tally *tally = &report->totals.tally;
    char text[HUMAN_SIZE];
    struct ratios ratios;

    ratios_of(tally, &ratios);
    fputs("<dl class=\"facts\">\n", out);
    snprintf(text, sizeof(text), "%u", report->totals.job_count);
    fact(out, "Jobs", text);
    fact(out, "Operations", human_count(text, tally_file_ops(tally)));
    fact(out, "Read", human_bytes(text, (double)tally->op[OP_READ].bytes));
    fact(out, "Written", human_bytes(text, (double)tally->op[OP_WRITE].bytes));
    if (ratios.metadata_ops == ratios.metadata_ops)
        fact(out, "Metadata", html_percent_text(text, ratios.metadata_ops));
    fputs("</dl>\n", out);
}

static void contents(FILE *out, const struct report *report)
{
    static const char *const sections[][2] = {
        {"who", "Who"},     {"how", "How"},           {"when", "When"},
        {"where", "Where"}, {"capacity", "Capacity"},     {"wrong", "What is wrong"},
        {"unseen", "What was not seen"},
    };

    fputs("<nav aria-label=\"Sections\"><ul>", out);
    if (report->comparison)
        fputs("<li><a href=\"#moved\">What moved</a></li>", out);
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
        fprintf(out, "<li><a href=\"#%s\">%s</a></li>", sections[i][0], sections[i][1]);
    fputs("</ul></nav>\n", out);
}

int html_answers(FILE *out, struct report *report)
{
    struct answer answers[ANSWERS];
    int err = answers_of(report, answers);

    if (err)
        return err;
    fputs("<div class=\"answers\">\n", out);
    for (unsigned i = 0; i < ANSWERS; i++) {
        fprintf(out, "<section class=\"answer %s\"><h3>%s</h3><p class=\"verdict\">", answer_states[answers[i].state],
                answers[i].question);
        html_text(out, answers[i].verdict);
        fputs("</p><p>", out);
        html_text(out, answers[i].detail);
        fputs("</p></section>\n", out);
    }
    fputs("</div>\n", out);
    answers_clear(answers);
    return 0;
}

static int first_page(FILE *out, struct report *report)
{
    int err;

    fputs("<header id=\"first\">\n<h1>What this storage is used for</h1>\n", out);
    span(out, &report->totals);
    facts(out, report);
    contents(out, report);
    err = html_answers(out, report);
    fputs("</header>\n<main>\n", out);
    if (!err && report->comparison)
        compare_html(out, report->comparison);
    return err;
}

static int write_html(struct report *report, FILE *out)
{
    static int (*const sections[])(FILE *, struct report *) = {first_page, html_who,   html_how,   html_when,
                                                               html_where, html_capacity, html_wrong, html_unseen};
    int err = 0;

    head(out);
    if (!report->totals.batches) {
        fputs("<main><h1>Nothing was recorded in what was asked for.</h1>\n<p>", out);
        html_text(out, report->asked ? report->asked : "");
        fputs("</p>\n", out);
    } else
        for (size_t i = 0; !err && i < sizeof(sections) / sizeof(*sections); i++)
            err = sections[i](out, report);
    fputs("</main>\n<footer><p>Counts are exact. A quantile is the nearest rank's, as the lower bound of a bucket that "
          "is at most 12.5 % wide. Times are UTC. An en dash stands for what could not be observed; why, is said under "
          "&#8220;What was not seen&#8221;. Made by Unblend " PACKAGE_VERSION ".</p></footer>\n<script>\n", out);
    fputs(report_js, out);
    fputs("</script>\n</body>\n</html>\n", out);
    return err;
}

const struct view view_html = {"html", write_html};
