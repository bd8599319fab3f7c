/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/html.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/view/html_chart.h"
#include "lib/utf8.h"

void html_text(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        size_t control = utf8_control(c);

        if (control) {
            fputs("\xef\xbf\xbd", out);
            c += control - 1;
            continue;
        }
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*c, out);
        }
    }
}

void html_heading(FILE *out, const char *anchor, const char *text)
{
    fprintf(out, "<h2 id=\"%s\">%s</h2>\n", anchor, text);
}

void html_table(FILE *out, const char *caption, const char *const *columns)
{
    fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">", out);
    if (caption)
        fprintf(out, "<caption>%s</caption>", caption);
    fputs("<thead><tr>", out);
    for (; *columns; columns++)
        if (**columns == '<')
            fprintf(out, "<th scope=\"col\" class=\"name\">%s</th>", *columns + 1);
        else
            fprintf(out, "<th scope=\"col\">%s</th>", *columns);
    fputs("</tr></thead><tbody>\n", out);
}

void html_table_end(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}

void html_name(FILE *out, const char *text)
{
    fputs("<th scope=\"row\" title=\"", out);
    html_text(out, text);
    fputs("\">", out);
    html_text(out, text);
    fputs("</th>", out);
}

void html_words(FILE *out, const char *text)
{
    fputs("<td class=\"name\">", out);
    html_text(out, text);
    fputs("</td>", out);
}

void html_cell(FILE *out, const char *text, double value)
{
    if (isnan(value))
        fputs("<td data-v=\"-1\">\xe2\x80\x93</td>", out);
    else
        fprintf(out, "<td data-v=\"%.6g\">%s</td>", value, text);
}

void html_count(FILE *out, uint64_t count)
{
    char text[HUMAN_SIZE];

    html_cell(out, human_count(text, count), (double)count);
}

void html_bytes(FILE *out, double bytes)
{
    char text[HUMAN_SIZE];

    html_cell(out, isnan(bytes) ? "" : human_bytes(text, bytes), bytes);
}

void html_rate(FILE *out, double rate)
{
    char text[HUMAN_SIZE];

    html_cell(out, isnan(rate) ? "" : human_rate(text, rate), rate);
}

char *html_byte_rate_text(char *buffer, double rate)
{
    human_bytes(buffer, rate);
    strcat(buffer, "/s");
    return buffer;
}

void html_byte_rate(FILE *out, double rate)
{
    char text[HUMAN_SIZE];

    html_cell(out, isnan(rate) ? "" : html_byte_rate_text(text, rate), rate);
}

void html_seconds(FILE *out, double seconds)
{
    char text[HUMAN_SIZE];

    html_cell(out, isnan(seconds) ? "" : seconds < 60 ? human_ns(text, 1e9 * seconds) : human_duration(text, seconds),
              seconds);
}

char *html_percent_text(char *buffer, double share)
{
    if (share > 0 && share < 0.005)
        return strcpy(buffer, "&lt;1 %");
    snprintf(buffer, HUMAN_SIZE, "%.0f %%", 100 * share);
    return buffer;
}

void html_percent(FILE *out, double share)
{
    char text[HUMAN_SIZE];

    html_cell(out, isnan(share) ? "" : html_percent_text(text, share), share);
}

void html_bar(FILE *out, double fraction, unsigned color)
{
    fraction = fraction > 1 ? 1 : fraction > 0 ? fraction : 0;
    fprintf(out,
            "<td class=\"bar\" data-v=\"%.4f\"><svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
            "aria-hidden=\"true\"><rect class=\"f%u\" width=\"%.2f\" height=\"10\"/></svg></td>",
            fraction, color, fraction > 0 ? fmax(100 * fraction, 0.5) : 0);
}

void html_quantile(FILE *out, const struct histogram *h, double q, bool skip_zeros, char *(*unit)(char *, double))
{
    char text[HUMAN_SIZE];
    uint64_t value;

    if (histogram_quantile(h, q, skip_zeros, &value))
        html_cell(out, unit(text, (double)value), (double)value);
    else
        html_cell(out, "", NAN);
}

char *html_moment(char *buffer, int64_t ns)
{
    char text[HUMAN_SIZE];

    human_time(text, ns);
    snprintf(buffer, HUMAN_SIZE, "%.5s %.8s", text + 5, text + 11);
    return buffer;
}

void html_operations(FILE *out, const struct tally *tally)
{
    static const char *const columns[] = {"<Operation", "Count",    "Failed", "Bytes", "Size p50", "p95",
                                          "p99",        "Time p50", "p95",    "p99",   "In all",   NULL};

    html_table(out, "Sizes are bytes really transferred, without empty transfers; &#8220;in all&#8221; is the time of "
                    "all of them together", columns);
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        const struct record *record = &tally->op[op];
        bool sized = operation_info(op)->has_size;

        if (!record_ops(record))
            continue;
        fputs("<tr>", out);
        html_name(out, operation_info(op)->name);
        html_count(out, record_ops(record));
        html_count(out, record->errors);
        html_bytes(out, sized ? (double)record->bytes : NAN);
        html_quantile(out, &record->size, 0.5, true, human_bytes);
        html_quantile(out, &record->size, 0.95, true, human_bytes);
        html_quantile(out, &record->size, 0.99, true, human_bytes);
        html_quantile(out, &record->latency_ns, 0.5, false, human_ns);
        html_quantile(out, &record->latency_ns, 0.95, false, human_ns);
        html_quantile(out, &record->latency_ns, 0.99, false, human_ns);
        html_seconds(out, (double)record->latency_sum_ns / 1e9);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
}

/* A share with its interval, if it has one. */
static void share(FILE *out, double share, const struct share_interval *interval)
{
    char percent[HUMAN_SIZE], text[2 * HUMAN_SIZE];

    if (isnan(interval->low)) {
        html_percent(out, share);
        return;
    }
    snprintf(text, sizeof(text), "%s (%.0f to %.0f)", html_percent_text(percent, share), 100 * interval->low,
             100 * interval->high);
    html_cell(out, text, share);
}

void html_profiles(FILE *out, const struct profile_list *list)
{
    static const char *const columns[] = {"<Profile", "<", "Bytes", "Operations", "Confidence", "<Evidence", NULL};

    fputs("<div class=\"profiles\">\n", out);
    html_table(out, NULL, columns);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct profile_share *p = &list->shares[i];
        bool unknown = strcmp(p->profile, PROFILE_UNKNOWN) == 0;

        if (p->pipeline && unknown)
            continue; /* each list has one */
        fputs("<tr>", out);
        html_name(out, p->profile);
        html_bar(out, isnan(p->share_bytes) ? p->share_ops : p->share_bytes, unknown ? CHART_UNKNOWN : chart_color(i));
        share(out, p->share_bytes, &p->bytes_interval);
        share(out, p->share_ops, &p->ops_interval);
        html_percent(out, p->confidence);
        fputs("<td class=\"words\">", out);
        for (uint32_t e = 0; e < p->evidence_count; e++) {
            fputs(e ? "; " : "", out);
            html_text(out, p->evidence[e]);
        }
        fputs("</td></tr>\n", out);
    }
    html_table_end(out);
    fputs("</div>\n", out);
}
