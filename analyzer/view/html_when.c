/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When: demand over time, its bursts, and who meets whom. */
#include "analyzer/view/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/epoch.h"
#include "analyzer/view/html_chart.h"
#include "lib/cleanup.h"

#define BINS     180
#define MEETINGS 12
#define PHASED   12
#define WORTH    1e-3 /* of all time in operations: what costs less is not worth a row */

/* The series in at most BINS bins of whole slots, a second. The mean is over the bin, the maximum that of its slots. */
static size_t bins_of(const struct series *s, unsigned demands, double mean[BINS], double max[BINS],
                      uint32_t *slots_a_bin)
{
    uint32_t each = (s->length + BINS - 1) / BINS;
    size_t count = (s->length + each - 1) / each;
    double slot_s = s->slot_ms / 1e3;

    for (size_t b = 0; b < count; b++) {
        uint32_t n = 0;

        mean[b] = max[b] = 0;
        for (; n < each && b * each + n < s->length; n++) {
            double value = (double)demand_sum(&s->slots[b * each + n], demands) / slot_s;

            mean[b] += value;
            max[b] = fmax(max[b], value);
        }
        mean[b] /= n;
    }
    *slots_a_bin = each;
    return count;
}

static void timeline(FILE *out, const struct series *series, const char *title, unsigned demands, unsigned color,
                     chart_unit *unit)
{
    double mean[BINS], max[BINS];
    uint32_t each;
    size_t count;
    bool any = false;

    if (!series->length)
        return;
    count = bins_of(series, demands, mean, max, &each);
    for (size_t i = 0; i < count; i++)
        any |= max[i] > 0;
    if (any)
        chart_timeline(out, &(struct chart_timeline){title, color, series_from(series),
                                                     (double)each * series->slot_ms, count, mean, max, unit});
}

#define HEAT_ROWS 100 /* of more only those in which something happened */

/* A heatmap's rows and columns: days and hours, or finer for short spans. */
struct calendar {
    int64_t row_ms, first; /* of rows */
    const size_t *days;    /* which rows there are, from the first on */
    size_t columns;
    const char *column;
    unsigned label_every;
};

static struct calendar calendar_of(int64_t span_ms)
{
    if (span_ms > 6 * 3600000ll)
        return (struct calendar){86400000, 0, NULL, 24, "hour", 3};
    if (span_ms > 6 * 60000ll)
        return (struct calendar){3600000, 0, NULL, 60, "minute", 10};
    return (struct calendar){60000, 0, NULL, 60, "second", 10};
}

static const char *row_name(char *buffer, size_t row, const void *context)
{
    const struct calendar *calendar = context;
    char text[HUMAN_SIZE];

    html_moment(text, (calendar->first + (int64_t)calendar->days[row]) * calendar->row_ms * 1000000);
    snprintf(buffer, HUMAN_SIZE, "%.5s", calendar->row_ms == 86400000 ? text : text + 6);
    return buffer;
}

static char *ops_rate(char *buffer, double rate)
{
    human_rate(buffer, rate);
    strcat(buffer, "/s");
    return buffer;
}

/* Rows as they are, but that of very many (a clock may be years ahead) the empty ones are left out. Returns how many. */
static size_t keep_rows(double *values, size_t rows, size_t columns, size_t *kept)
{
    size_t count = 0;

    for (size_t row = 0; row < rows; row++) {
        double sum = 0;

        for (size_t i = 0; i < columns; i++)
            sum += isnan(values[row * columns + i]) ? 0 : values[row * columns + i];
        if (rows > HEAT_ROWS && !(sum > 0))
            continue;
        memmove(values + count * columns, values + row * columns, columns * sizeof(*values));
        kept[count++] = row;
    }
    return count;
}

static int heat(FILE *out, const struct series *s, const char *title, unsigned demands, chart_unit *unit)
{
    int64_t from = series_from(s), last = series_last(s);
    struct calendar calendar = calendar_of(last + s->slot_ms - from);
    int64_t cell_ms = calendar.row_ms / (int64_t)calendar.columns;
    _cleanup_free_ double *values = NULL, *seconds = NULL;
    _cleanup_free_ size_t *days = NULL;
    size_t rows;

    if (s->slot_ms > cell_ms)
        return 0;
    calendar.first = from / calendar.row_ms;
    rows = (size_t)(last / calendar.row_ms - calendar.first + 1);
    values = calloc(rows * calendar.columns, sizeof(*values));
    seconds = calloc(rows * calendar.columns, sizeof(*seconds));
    calendar.days = days = calloc(rows, sizeof(*days));
    if (!values || !seconds || !days)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->length; i++) {
        int64_t at = from + (int64_t)i * s->slot_ms;
        size_t cell = (size_t)(at / calendar.row_ms - calendar.first) * calendar.columns +
                      (size_t)(at % calendar.row_ms / cell_ms);

        values[cell] += (double)demand_sum(&s->slots[i], demands);
        seconds[cell] += s->slot_ms / 1e3;
    }
    for (size_t i = 0; i < rows * calendar.columns; i++)
        values[i] = seconds[i] > 0 ? values[i] / seconds[i] : NAN;
    rows = keep_rows(values, rows, calendar.columns, days);
    chart_heat(out, &(struct chart_heat){title, rows, calendar.columns, values, row_name, calendar.column,
                                         calendar.label_every, &calendar, unit});
    return 0;
}

static int bursts(FILE *out, const struct aggregate *totals)
{
    static const char *const columns[] = {"<Windows of", "Peak to mean", "Variation", "Fano", "Idle", NULL};
    char text[HUMAN_SIZE];
    struct burst burst;

    if (burst_within(&totals->series, DEMAND_BYTES, &totals->series, &burst))
        return -ENOMEM;
    if (windows_complete(&totals->windows, &totals->series))
        windows_burst(&totals->windows, &totals->windows, MEASURE_BYTES, &burst);
    html_table(out, "Bursts of bytes read and written", columns);
    for (unsigned w = 0; w < BURST_WINDOWS; w++) {
        fputs("<tr>", out);
        html_name(out, human_duration(text, burst_window_ms[w] / 1e3));
        snprintf(text, sizeof(text), "%.1f", burst.peak_to_mean[w]);
        html_cell(out, text, burst.peak_to_mean[w]);
        snprintf(text, sizeof(text), "%.2f", burst.cv[w]);
        html_cell(out, text, burst.cv[w]);
        html_bytes(out, burst.fano[w]);
        html_percent(out, burst.idle[w]);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
    if (!isnan(burst.period_s))
        fprintf(out, "<p>Demand repeats every %s.</p>\n", human_duration(text, burst.period_s));
    return 0;
}

static void latency(FILE *out, const struct windows *windows)
{
    static const char *const columns[] = {"<Reads and writes", "Count", "p50", "p95", "p99", "Longest", NULL};
    const struct histogram *both[2] = {&windows->burst[FLOW_DATA], &windows->steady[FLOW_DATA]};
    char text[HUMAN_SIZE];
    uint64_t max;

    if (!both[0]->length && !both[1]->length)
        return;
    html_table(out, "Their latency in bursts and outside of them", columns);
    for (unsigned i = 0; i < 2; i++) {
        fputs("<tr>", out);
        html_name(out, i ? "outside" : "in bursts");
        html_count(out, histogram_count(both[i]));
        html_quantile(out, both[i], 0.5, false, human_ns);
        html_quantile(out, both[i], 0.95, false, human_ns);
        html_quantile(out, both[i], 0.99, false, human_ns);
        if (histogram_max(both[i], &max))
            html_cell(out, human_ns(text, (double)max), (double)max);
        else
            html_cell(out, "", NAN);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
}

/* Of jobs that have more than one, or epochs. */
static void phases(FILE *out, const struct aggregate *totals)
{
    static const char *const columns[] = {"<Job", "<Phases", "Epochs", "One every", "Each reads", NULL};
    unsigned rows = 0;

    for (uint32_t i = 0; i < totals->job_count && rows < PHASED; i++) {
        struct phases phases;
        struct epochs epochs;

        if (phases_of(&totals->jobs[i].series, &phases))
            continue;
        epochs_of(&totals->jobs[i], &phases, &epochs);
        if (phases.count < 2 && !epochs.count)
            continue;
        if (!rows++)
            html_table(out, "What jobs did after what", columns);
        fputs("<tr>", out);
        html_name(out, totals->jobs[i].name);
        fputs("<td class=\"words\">", out);
        phases_write(out, &phases);
        fputs("</td>", out);
        if (epochs.count)
            html_count(out, epochs.count);
        else
            html_cell(out, "", NAN);
        html_seconds(out, epochs.count ? epochs.length_s : NAN);
        html_bytes(out, epochs.count ? epochs.bytes : NAN);
        fputs("</tr>\n", out);
    }
    if (rows)
        html_table_end(out);
}

/* So long that two who met cost each other nothing; that it is not known is something else. */
static double too_cheap(const struct report *report)
{
    double all_s = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        all_s += (double)report->totals.tally.op[op].latency_sum_ns / 1e9;
    return WORTH * all_s;
}

static void meetings(FILE *out, const struct report *report)
{
    static const char *const columns[] = {"<Job", "<meets", "<on", "For", "Takes", "Alone", "Costs", NULL};
    const double cheap_s = too_cheap(report);
    uint32_t rows = 0, left = 0;
    char text[HUMAN_SIZE];

    for (uint32_t i = 0; i < report->blend.meeting_count; i++)
        left += report->blend.meetings[i].cost_s <= cheap_s;
    if (left)
        fprintf(out, "<p class=\"faint\">%u meeting%s of jobs on a volume that cost%s less than a thousandth of the time in "
                     "operations %s left out.</p>\n",
                left, left == 1 ? "" : "s", left == 1 ? "s" : "", left == 1 ? "is" : "are");
    if (left == report->blend.meeting_count)
        return;
    html_table(out,
               "Who meets whom, by what it costs: time of one operation together and alone, and the difference over "
               "all",
               columns);
    for (uint32_t i = 0; i < report->blend.meeting_count && rows < MEETINGS; i++) {
        const struct meeting *m = &report->blend.meetings[i];

        if (m->cost_s <= cheap_s)
            continue;
        rows++;
        fputs("<tr>", out);
        html_name(out, report->totals.jobs[m->victim].name);
        html_words(out, report->totals.jobs[m->other].name);
        html_words(out, m->volume->name);
        html_seconds(out, m->seconds);
        html_cell(out, isnan(m->together_ns) ? "" : human_ns(text, m->together_ns), m->together_ns);
        html_cell(out, isnan(m->alone_ns) ? "" : human_ns(text, m->alone_ns), m->alone_ns);
        html_seconds(out, m->cost_s);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
}

int html_when(FILE *out, struct report *report)
{
    const struct aggregate *totals = &report->totals;
    char slot[HUMAN_SIZE], text[HUMAN_SIZE];
    double overlap = overlap_share(&totals->overlap);
    int err = 0;

    if (!totals->series.length)
        return 0;
    fputs("<section>\n", out);
    html_heading(out, "when", "When: over time, and in bursts");
    fprintf(out, "<p>What programs asked for, page cache hits included, on all volumes. The pale area is the highest "
                 "of %s, the full one the mean.</p>\n<div class=\"charts\">\n",
            human_duration(slot, totals->series.slot_ms / 1e3));
    timeline(out, &totals->series, "Read", DEMAND_BIT(DEMAND_READ_BYTES), CHART_READ, html_byte_rate_text);
    timeline(out, &totals->series, "Written", DEMAND_BIT(DEMAND_WRITE_BYTES), CHART_WRITE, html_byte_rate_text);
    timeline(out, &totals->series, "Reads and writes", DEMAND_DATA_OPS, CHART_OTHER, ops_rate);
    timeline(out, &totals->series, "Metadata operations", DEMAND_BIT(DEMAND_METADATA_OPS), CHART_METADATA, ops_rate);
    err = heat(out, &totals->series, "Bytes, by the clock (UTC)", DEMAND_BYTES, html_byte_rate_text);
    if (!err)
        err = heat(out, &totals->series, "Metadata, by the clock (UTC)", DEMAND_BIT(DEMAND_METADATA_OPS), ops_rate);
    fputs("</div>\n", out);
    if (!err)
        err = bursts(out, totals);
    latency(out, &totals->windows);
    if (!isnan(overlap) && totals->job_count > 1)
        fprintf(out, "<p>In %s of the tenths of a second in which data moved, more than one job moved it.</p>\n",
                html_percent_text(text, overlap));
    phases(out, totals);
    meetings(out, report);
    fputs("</section>\n", out);
    return err;
}
