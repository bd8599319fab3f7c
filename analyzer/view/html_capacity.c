/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capacity: demand by length of windows, what of the limits it uses, and what to ask a platform for. */
#include "analyzer/view/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/scenario.h"
#include "lib/cleanup.h"

#define LISTED 40

static const char *const window_words[CAPACITY_WINDOWS] = {"100 ms", "1 s", "1 min", "1 h"};

char *html_metric_text(char *buffer, enum metric_id metric, double value)
{
    if (metric == METRIC_IN_FLIGHT)
        snprintf(buffer, HUMAN_SIZE, value < 10 ? "%.2f" : "%.0f", value);
    else if (metric == METRIC_READ_BYTES || metric == METRIC_WRITE_BYTES)
        html_byte_rate_text(buffer, value);
    else
        strcat(human_rate(buffer, value), "/s");
    return buffer;
}

static void figure(FILE *out, enum metric_id metric, double value)
{
    char text[HUMAN_SIZE];

    html_cell(out, isnan(value) ? "" : html_metric_text(text, metric, value), value);
}

static void demand(FILE *out, const struct capacity_entry *entry, const char *caption)
{
    static const char *const columns[] = {"<Demand", "Windows of", "Mean", "p50", "p95", "p99", "Highest",
                                          "Longest above p95", NULL};

    html_table(out, caption, columns);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        for (unsigned w = 0; w < CAPACITY_WINDOWS; w++) {
            const struct capacity_demand *d = &entry->demand[m][w];

            if (!d->known || !(entry->demand[m][w].max > 0))
                continue;
            fputs("<tr>", out);
            html_name(out, metric_words[m]);
            html_cell(out, window_words[w], capacity_window_ms[w]);
            figure(out, m, d->mean);
            figure(out, m, d->p50);
            figure(out, m, d->p95);
            figure(out, m, d->p99);
            figure(out, m, d->max);
            html_seconds(out, d->longest_above_p95_s);
            fputs("</tr>\n", out);
        }
    html_table_end(out);
}

/* One line an entry: what it asks for over a second. */
static void overview(FILE *out, const struct capacity_entry *entries, uint32_t count, const char *caption,
                     const char *what)
{
    const char *columns[] = {what,        "<Layer",             "Read, mean",     "Highest s", "Written, mean",
                             "Highest s", "Reads+writes, mean", "Metadata, mean", "Highest s", "In flight", NULL};

    if (!count)
        return;
    html_table(out, caption, columns);
    for (uint32_t i = 0; i < count && i < LISTED; i++) {
        const struct capacity_entry *e = &entries[i];
        unsigned w = CAPACITY_SECOND;

        while (w + 1 < CAPACITY_WINDOWS && !e->demand[METRIC_READ_BYTES][w].known)
            w++;
        if (!e->demand[METRIC_READ_BYTES][w].known)
            continue;
        fputs("<tr>", out);
        html_name(out, e->name ? e->name : "all shared volumes");
        html_words(out, e->reached ? "reached" : "asked");
        figure(out, METRIC_READ_BYTES, e->demand[METRIC_READ_BYTES][w].mean);
        figure(out, METRIC_READ_BYTES, e->demand[METRIC_READ_BYTES][w].max);
        figure(out, METRIC_WRITE_BYTES, e->demand[METRIC_WRITE_BYTES][w].mean);
        figure(out, METRIC_WRITE_BYTES, e->demand[METRIC_WRITE_BYTES][w].max);
        figure(out, METRIC_READ_OPS, e->demand[METRIC_READ_OPS][w].mean + e->demand[METRIC_WRITE_OPS][w].mean);
        figure(out, METRIC_METADATA_OPS, e->demand[METRIC_METADATA_OPS][w].mean);
        figure(out, METRIC_METADATA_OPS, e->demand[METRIC_METADATA_OPS][w].max);
        figure(out, METRIC_IN_FLIGHT, e->demand[METRIC_IN_FLIGHT][w].known ? e->demand[METRIC_IN_FLIGHT][w].mean : NAN);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
}

static void use(FILE *out, const struct capacity *capacity)
{
    static const char *const columns[] = {"<Of what", "<Layer", "Windows of", "Mean", "p95", "Highest",
                                          "<When (UTC)", "<By", "<Of the limit", NULL};
    char text[HUMAN_SIZE];
    bool any = false;

    for (unsigned list = 0; list < 2; list++) {
        const struct capacity_entry *entries = list ? capacity->volumes : capacity->cluster;
        uint32_t count = list ? capacity->volume_count : capacity->cluster_count;

        for (uint32_t i = 0; i < count && i < LISTED; i++)
            for (unsigned w = 0; w < CAPACITY_WINDOWS; w++) {
                const struct capacity_use *u = &entries[i].use[w];

                if (!u->known || (entries[i].source == LIMIT_HIGHEST_SEEN && w <= CAPACITY_SECOND))
                    continue; /* the highest second of the highest seen is all of it */
                if (!any)
                    html_table(out, "Utilization: demand over the limit, of what comes nearest to its own", columns);
                any = true;
                fputs("<tr>", out);
                html_name(out, entries[i].name ? entries[i].name : "all shared volumes");
                html_words(out, entries[i].reached ? "reached" : "asked");
                html_cell(out, window_words[w], capacity_window_ms[w]);
                html_percent(out, u->mean);
                html_percent(out, u->p95);
                html_percent(out, u->max);
                html_words(out, html_moment(text, u->max_ms * 1000000));
                html_words(out, metric_words[u->binding]);
                html_words(out, entries[i].source == LIMIT_PLATFORM ? "platform file" : "highest seen");
                fputs("</tr>\n", out);
            }
    }
    if (any)
        html_table_end(out);
}

static void together(FILE *out, unsigned with)
{
    bool any = false;

    fputs("<td class=\"name\">", out);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (with & 1u << m) {
            fprintf(out, "%s%s", any ? ", " : "", metric_words[m]);
            any = true;
        }
    fputs(any ? "</td>" : "\xe2\x80\x93</td>", out);
}

/* Where seconds are not known any more it is a minute's mean, which hides what is higher. */
static void peak(FILE *out, const struct need *r)
{
    char text[2 * HUMAN_SIZE], value[HUMAN_SIZE], window[HUMAN_SIZE];

    html_metric_text(value, r->metric, r->peak);
    if (r->peak_window_ms <= 1000)
        snprintf(text, sizeof(text), "%s", value);
    else
        snprintf(text, sizeof(text), "%s (mean of %s)", value, human_duration(window, r->peak_window_ms / 1e3));
    html_cell(out, text, r->peak);
}

static void required(FILE *out, const struct capacity *capacity)
{
    static const char *const columns[] = {"<Demand", "Sustained", "Peak second", "Above sustained for",
                                          "With a node lost", "Size p50", "p95", "Latency p50", "p99",
                                          "<Peaks with", NULL};
    char text[HUMAN_SIZE];

    if (!capacity->required_count) {
        fputs("<p>Cannot tell what a platform must do, because no shared volume was seen.</p>\n", out);
        return;
    }
    html_table(out, "What a platform must do, fit for a tender: sustained is the 95th percentile of windows of up to a "
                    "minute; latency is what programs had meanwhile, page cache hits included", columns);
    for (uint32_t i = 0; i < capacity->required_count; i++) {
        const struct need *r = &capacity->required[i];

        fputs("<tr>", out);
        html_name(out, metric_words[r->metric]);
        figure(out, r->metric, r->sustained);
        peak(out, r);
        html_seconds(out, r->above_s);
        figure(out, r->metric, r->node_lost);
        html_bytes(out, r->sized ? (double)r->size_p50 : NAN);
        html_bytes(out, r->sized ? (double)r->size_p95 : NAN);
        html_cell(out, human_ns(text, (double)r->latency_p50_ns), r->latency_p50_ns ? (double)r->latency_p50_ns : NAN);
        html_cell(out, human_ns(text, (double)r->latency_p99_ns), r->latency_p99_ns ? (double)r->latency_p99_ns : NAN);
        together(out, r->with);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
}

/* Metadata operations by kind: the mean, and what the kind's share is of the peak second of all. */
static void metadata(FILE *out, const struct report *report)
{
    static const char *const columns[] = {"<Metadata", "Mean", "At the peak", NULL};
    const struct aggregate *totals = &report->totals;
    double seconds = (double)(totals->end_ns - totals->start_ns) / 1e9, peak = NAN;
    uint64_t ops[OP_FILE_END] = {0}, all = 0;

    for (uint32_t i = 0; i < report->capacity.required_count; i++)
        if (report->capacity.required[i].metric == METRIC_METADATA_OPS)
            peak = report->capacity.required[i].peak;
    for (uint32_t i = 0; i < totals->volume_count; i++)
        for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
            if (totals->volumes[i].scope == SCOPE_SHARED && operation_info(op)->class == OP_CLASS_METADATA) {
                ops[op] += tally_ops(&totals->volumes[i].tally, op);
                all += tally_ops(&totals->volumes[i].tally, op);
            }
    if (!all || isnan(peak))
        return;
    html_table(out, "Metadata by operation; at the peak: its share of all, of the peak above", columns);
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        if (ops[op]) {
            fputs("<tr>", out);
            html_name(out, operation_info(op)->name);
            figure(out, METRIC_METADATA_OPS, (double)ops[op] / seconds);
            figure(out, METRIC_METADATA_OPS, peak * (double)ops[op] / (double)all);
            fputs("</tr>\n", out);
        }
    html_table_end(out);
}

static void scenario(FILE *out, const struct scenario_result *r)
{
    char text[HUMAN_SIZE];

    fputs("<tr>", out);
    html_name(out, r->scenario->name);
    html_words(out, r->offer->name);
    snprintf(text, sizeof(text), "%u of %u", r->nodes, r->offer->nodes);
    html_cell(out, text, r->nodes);
    html_percent(out, r->use_mean);
    html_percent(out, r->use_max);
    html_words(out, metric_words[r->binding]);
    html_percent(out, r->served);
    figure(out, METRIC_READ_OPS, r->ops_s);
    html_cell(out, isnan(r->latency_ns) ? "" : human_ns(text, r->latency_ns), r->latency_ns);
    html_cell(out, isnan(r->latency99_ns) ? "" : human_ns(text, r->latency99_ns), r->latency99_ns);
    html_words(out, r->beyond_full   ? "a guess: above 80 % waiting grows faster than any model"
                    : r->beyond_seen ? "a guess: more than twice what was seen"
                                     : "");
    fputs("</tr>\n", out);
}

static int scenarios(FILE *out, const struct report *report)
{
    static const char *const columns[] = {"<Demand", "<Platform", "Nodes", "Used, mean", "Highest s", "<By",
                                          "Served then", "Operations", "Latency", "p99", "<Mind", NULL};
    unsigned wanted = report->scenarios ? report->scenarios->count : 0, count;
    _cleanup_free_ struct scenario_result *results = calloc(2 * wanted + 1, sizeof(*results));

    if (!results)
        return -ENOMEM;
    count = wanted ? scenarios_run(report->scenarios, report, results) : 0;
    if (!count)
        return 0;
    html_table(out, "What if: demand multiplied in step, with all nodes, and without those that may fail; latency is "
                    "the model&#8217;s, see unblend-platform(5)", columns);
    for (unsigned i = 0; i < count; i++)
        scenario(out, &results[i]);
    html_table_end(out);
    return 0;
}

static void platform(FILE *out, const struct report *report)
{
    const struct offer *offer = report->offer;
    char text[HUMAN_SIZE];
    double limits[METRIC_COUNT];

    if (!offer) {
        fputs("<p>Nobody said what storage can do (--platform), so its limits are the highest that was seen, and "
              "utilization says how even demand is, not how near the end; nor what it costs.</p>\n", out);
        return;
    }
    fputs("<p>Compared with ", out);
    html_text(out, offer->name);
    fprintf(out, ": %u node%s, of which %u may fail", offer->nodes, offer->nodes == 1 ? "" : "s", offer->failures);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        limits[m] = NAN;
    offer_limits(offer, offer->nodes, limits);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (!isnan(limits[m]))
            fprintf(out, "; %s %s", metric_words[m], html_metric_text(text, m, limits[m]));
    fputs(". Reads and writes share what it can do.</p>\n", out);
    html_cost(out, report);
}

int html_capacity(FILE *out, struct report *report)
{
    const struct capacity *capacity = &report->capacity;
    int err;

    if (!report->totals.series.length)
        return 0;
    fputs("<section>\n", out);
    html_heading(out, "capacity", "Capacity: demand, limits, what to ask for");
    platform(out, report);
    required(out, capacity);
    metadata(out, report);
    use(out, capacity);
    err = scenarios(out, report);
    for (uint32_t i = 0; i < capacity->cluster_count; i++)
        demand(out, &capacity->cluster[i],
               capacity->cluster[i].reached
                   ? "All shared volumes, what reached storage: requests to file servers, or platforms&#8217; counters"
                   : "All shared volumes, what programs asked for, page cache hits included");
    overview(out, capacity->volumes, capacity->volume_count,
             "Volumes: a second&#8217;s demand, or that of the shortest windows", "<Volume");
    overview(out, capacity->profiles, capacity->profile_count, "Shared volumes, by profile", "<Profile");
    overview(out, capacity->owners, capacity->owner_count, "Shared volumes, by owner", "<Owner");
    fputs("</section>\n", out);
    return err;
}
