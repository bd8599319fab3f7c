/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/html_chart.h"

#include <math.h>
#include <stdbool.h>
#include <time.h>

#include "analyzer/view/html.h"

#define WIDTH  480.0
#define LEFT   62.0
#define RIGHT  8.0
#define PLOT   (WIDTH - LEFT - RIGHT)
#define TABLED 48 /* rows of a picture's table; more bins are put together */

static void open_figure(FILE *out, const char *title, const char *note, double height)
{
    fprintf(out, "<figure><figcaption><b>%s</b><br>%s</figcaption>\n", title, note);
    fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s: %s\">\n", WIDTH, height, title, note);
}

unsigned chart_color(unsigned number)
{
    number %= CHART_COLORS - 1;
    return number < CHART_UNKNOWN ? number : number + 1;
}

double chart_round_up(double value, int binary)
{
    static const double steps[] = {1, 2, 5, 10};
    double base = 1;

    if (!(value > 0))
        return 1;
    if (binary) {
        base = pow(1024, floor(log2(value) / 10));
        value /= base;
        base *= value > 100 ? 100 : value > 10 ? 10 : 1;
        value /= value > 100 ? 100 : value > 10 ? 10 : 1;
    } else {
        base = pow(10, floor(log10(value)));
        value /= base;
    }
    for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++)
        if (value <= steps[i] * (1 + 1e-9))
            return steps[i] * base;
    return 10 * base;
}

static void y_axis(FILE *out, double top, double height, double most, chart_unit *unit)
{
    char text[HUMAN_SIZE];

    for (unsigned i = 0; i <= 2; i++) {
        double y = top + height - height * i / 2;

        fprintf(out, "<line class=\"%s\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>", i ? "grid" : "axis", LEFT,
                LEFT + PLOT, y, y);
        fprintf(out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 5, y + 4,
                unit(text, most * i / 2));
    }
}

/* Steps that people count time in, in s. */
static double tick_of(double span_s)
{
    static const double ticks[] = {0.5,  1,    2,    5,     10,    20,    30,     60,     120,    300,     600,
                                   1200, 1800, 3600, 7200,  10800, 21600, 43200,  86400,  172800, 345600,  604800,
                                   1209600, 2592000};

    for (unsigned i = 0; i < sizeof(ticks) / sizeof(*ticks); i++)
        if (span_s / ticks[i] <= 6)
            return ticks[i];
    return ceil(span_s / 6 / 2592000) * 2592000;
}

static void x_axis(FILE *out, double y, int64_t from_ms, double span_ms)
{
    double tick = tick_of(span_ms / 1e3) * 1e3;
    int64_t first = (int64_t)ceil((double)from_ms / tick);
    int64_t last = (int64_t)floor(((double)from_ms + span_ms + 0.5) / tick);

    for (int64_t i = first; i <= last; i++) {
        double at = (double)i * tick;
        double x = LEFT + (at - (double)from_ms) / span_ms * PLOT;
        time_t seconds = (time_t)floor(at / 1e3);
        struct tm tm;
        char text[24];

        gmtime_r(&seconds, &tm);
        strftime(text, sizeof(text), tick >= 86400e3 ? "%m-%d" : tick >= 60e3 ? "%H:%M" : "%H:%M:%S", &tm);
        if (tick < 1000)
            snprintf(text, sizeof(text), "%.1f s", (at - (double)from_ms) / 1e3);
        fprintf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x, y, y + 4);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y + 15,
                x < LEFT + 18 ? "start" : x > LEFT + PLOT - 18 ? "end" : "middle", text);
    }
}

/* An area of steps. */
static void area(FILE *out, const struct chart_timeline *c, const double *values, double top, double height,
                 double most, const char *more)
{
    fprintf(out, "<path class=\"f%u%s\" d=\"M%.1f %.1f", c->color, more, LEFT, top + height);
    for (size_t i = 0; i < c->count; i++) {
        double y = top + height - height * fmin((isnan(values[i]) ? 0 : values[i]) / most, 1);

        if (!i || values[i] != values[i - 1])
            fprintf(out, "V%.1f", y);
        if (i + 1 == c->count || values[i] != values[i + 1])
            fprintf(out, "H%.1f", LEFT + PLOT * (double)(i + 1) / (double)c->count);
    }
    fprintf(out, "V%.1fZ\"/>\n", top + height);
}

static void timeline_table(FILE *out, const struct chart_timeline *c)
{
    size_t group = (c->count + TABLED - 1) / TABLED;
    char moment[HUMAN_SIZE], a[HUMAN_SIZE], b[HUMAN_SIZE];

    fputs("<details><summary>Its figures</summary><div class=\"scroll\"><table><thead><tr><th scope=\"col\">From "
          "(UTC)</th><th scope=\"col\">Mean</th><th scope=\"col\">Highest</th></tr></thead><tbody>\n", out);
    for (size_t i = 0; i < c->count; i += group) {
        double sum = 0, max = 0;
        size_t n = 0;

        for (; n < group && i + n < c->count; n++) {
            sum += c->mean[i + n];
            max = fmax(max, c->max[i + n]);
        }
        html_moment(moment, (int64_t)((double)c->from_ms + (double)i * c->step_ms) * 1000000);
        fprintf(out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td></tr>\n", moment, c->unit(a, sum / (double)n),
                c->unit(b, max));
    }
    fputs("</tbody></table></div></details>\n", out);
}

void chart_timeline(FILE *out, const struct chart_timeline *c)
{
    const double top = 8, height = 112;
    char mean_text[HUMAN_SIZE], max_text[HUMAN_SIZE], moment[HUMAN_SIZE], words[512];
    double most = 0, sum = 0;
    size_t peak = 0;

    for (size_t i = 0; i < c->count; i++) {
        if (c->max[i] > c->max[peak])
            peak = i;
        sum += c->mean[i];
    }
    if (!c->count)
        return;
    most = chart_round_up(c->max[peak], c->unit == html_byte_rate_text);
    html_moment(moment, (int64_t)((double)c->from_ms + (double)peak * c->step_ms) * 1000000);
    snprintf(words, sizeof(words), "%s on average, %s at most, at %s UTC", c->unit(mean_text, sum / (double)c->count),
             c->unit(max_text, c->max[peak]), moment);
    open_figure(out, c->title, words, top + height + 22);
    y_axis(out, top, height, most, c->unit);
    area(out, c, c->max, top, height, most, " high");
    area(out, c, c->mean, top, height, most, "");
    x_axis(out, top + height, c->from_ms, c->step_ms * (double)c->count);
    for (size_t i = 0; i < c->count; i++) { /* what the pointer finds */
        if (!c->max[i])
            continue;
        html_moment(moment, (int64_t)((double)c->from_ms + (double)i * c->step_ms) * 1000000);
        fprintf(out,
                "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" fill=\"none\" "
                "pointer-events=\"all\"><title>%s\n"
                "mean %s, highest %s</title></rect>\n",
                LEFT + PLOT * (double)i / (double)c->count, top, PLOT / (double)c->count, height, moment,
                c->unit(mean_text, c->mean[i]), c->unit(max_text, c->max[i]));
    }
    fputs("</svg>\n", out);
    timeline_table(out, c);
    fputs("</figure>\n", out);
}

void chart_heat(FILE *out, const struct chart_heat *c)
{
    const double cell = PLOT / (double)c->columns, height = fmin(fmax(cell, 13), 20);
    char text[HUMAN_SIZE], name[HUMAN_SIZE], words[256];
    double most = 0;

    for (size_t i = 0; i < c->rows * c->columns; i++)
        most = fmax(most, isnan(c->values[i]) ? 0 : c->values[i]);
    if (!(most > 0))
        return;
    snprintf(words, sizeof(words), "the darker, the more; the darkest cell is %s", c->unit(text, most));
    open_figure(out, c->title, words, height * (double)c->rows + 22);
    for (size_t row = 0; row < c->rows; row++) {
        double y = height * (double)row;

        fprintf(out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 5, y + height / 2 + 4,
                c->row_name(name, row, c->context));
        for (size_t column = 0; column < c->columns; column++) {
            double value = c->values[row * c->columns + column];

            if (isnan(value))
                continue;
            fprintf(out,
                    "<rect class=\"heat\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                    "fill-opacity=\"%.2f\"><title>%s, %s %zu: %s</title></rect>\n",
                    LEFT + cell * (double)column, y, cell - 1, height - 1, 0.05 + 0.95 * sqrt(value / most), name,
                    c->column_name, column, c->unit(text, value));
        }
    }
    for (size_t column = 0; column < c->columns; column += c->label_every)
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%02zu</text>",
                LEFT + cell * ((double)column + 0.5), height * (double)c->rows + 13, column);
    fprintf(out, "</svg>\n</figure>\n");
}

void chart_shares(FILE *out, const char *title, const struct chart_share *shares, unsigned count)
{
    char text[HUMAN_SIZE];
    double at = 0;

    fprintf(out, "<figure><figcaption><b>%s</b></figcaption>\n<svg viewBox=\"0 0 %.0f 26\" aria-hidden=\"true\">",
            title, WIDTH);
    for (unsigned i = 0; i < count; i++) {
        double width = WIDTH * shares[i].share;

        fprintf(out, "<rect class=\"f%u\" x=\"%.1f\" width=\"%.1f\" height=\"24\"><title>%s: %s</title></rect>\n",
                shares[i].color, at, fmax(width - 1, 0.4), shares[i].name, html_percent_text(text, shares[i].share));
        at += width;
    }
    fputs("</svg>\n<ul class=\"legend\">", out);
    for (unsigned i = 0; i < count; i++)
        fprintf(out,
                "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"f%u\" width=\"10\" "
                "height=\"10\"/></svg>%s %s</li>",
                shares[i].color, shares[i].name, html_percent_text(text, shares[i].share));
    fputs("</ul></figure>\n", out);
}
