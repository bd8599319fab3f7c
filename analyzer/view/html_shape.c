/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms as rows of bars on one axis of octaves. */
#include "analyzer/view/html_chart.h"

#include <math.h>
#include <string.h>

#include "analyzer/view/html.h"

#define OCTAVES 65 /* octave n holds values of n significant bits, 0 the value 0 */
#define WIDTH   480.0
#define LEFT    86.0
#define RIGHT   8.0
#define ROW     46.0

static unsigned octave_of(unsigned bucket)
{
    uint64_t value = bucket_lower(bucket);

    return value ? 64u - (unsigned)__builtin_clzll(value) : 0;
}

static void fold(const struct histogram *h, uint64_t *octaves)
{
    memset(octaves, 0, OCTAVES * sizeof(*octaves));
    for (unsigned i = 0; i < h->length; i++)
        octaves[octave_of(h->cells[i].bucket)] += h->cells[i].count;
}

static void hold(const struct histogram *h, unsigned *first, unsigned *last)
{
    if (!h->length)
        return;
    if (octave_of(h->cells[0].bucket) < *first)
        *first = octave_of(h->cells[0].bucket);
    if (octave_of(h->cells[h->length - 1].bucket) > *last)
        *last = octave_of(h->cells[h->length - 1].bucket);
}

static const char *bound_text(char *buffer, unsigned octave, chart_unit *unit)
{
    return octave ? unit(buffer, ldexp(1, (int)octave - 1)) : "0";
}

static void row(FILE *out, const struct chart_shape *c, unsigned at, unsigned first, unsigned last)
{
    double step = (WIDTH - LEFT - RIGHT) / (last - first + 1), base = ROW * at + ROW - 4;
    uint64_t octaves[OCTAVES], most = 0, all = histogram_count(c->histograms[at]), middle;
    char low[HUMAN_SIZE], high[HUMAN_SIZE], share[HUMAN_SIZE], text[HUMAN_SIZE];

    fold(c->histograms[at], octaves);
    for (unsigned o = first; o <= last; o++)
        most = octaves[o] > most ? octaves[o] : most;
    fprintf(out, "<text class=\"strong\" x=\"0\" y=\"%.1f\">%s</text><text x=\"0\" y=\"%.1f\">%s</text>\n", base - 15,
            c->names[at], base - 2,
            histogram_quantile(c->histograms[at], 0.5, false, &middle) ? c->unit(text, (double)middle) : "");
    fprintf(out, "<line class=\"axis\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT, WIDTH - RIGHT,
            base, base);
    for (unsigned o = first; o <= last; o++) {
        double height = most ? (ROW - 10) * (double)octaves[o] / (double)most : 0;

        if (!octaves[o])
            continue;
        height = fmax(height, 1);
        fprintf(out,
                "<rect class=\"f%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s from %s to %s: %s\n"
                "%s of them</title></rect>\n",
                c->colors[at], LEFT + step * (o - first) + 0.5, base - height, fmax(step - 1, 0.5), height,
                c->names[at], bound_text(low, o, c->unit), bound_text(high, o + 1, c->unit),
                human_count(text, octaves[o]), html_percent_text(share, (double)octaves[o] / (double)all));
    }
}

static void axis(FILE *out, const struct chart_shape *c, unsigned first, unsigned last)
{
    unsigned every = last - first > 24 ? 5 : last - first > 12 ? 4 : 2;
    double step = (WIDTH - LEFT - RIGHT) / (last - first + 1);
    char text[HUMAN_SIZE];

    for (unsigned o = first; o <= last; o++)
        if (o % every == 1 % every && LEFT + step * (o - first) < WIDTH - 24)
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", LEFT + step * (o - first),
                    ROW * c->count + 10, o == first ? "start" : "middle", bound_text(text, o, c->unit));
}

void chart_shapes(FILE *out, const struct chart_shape *c)
{
    unsigned first = OCTAVES, last = 0;

    for (unsigned i = 0; i < c->count; i++)
        hold(c->histograms[i], &first, &last);
    if (first > last)
        return;
    fprintf(out, "<figure><figcaption><b>%s</b><br>a bar is a doubling, as high as it is frequent in its row; the "
                 "median stands beside</figcaption>\n<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s: "
                 "quantiles are in the table of operations\">\n",
            c->title, WIDTH, ROW * c->count + 16, c->title);
    for (unsigned i = 0; i < c->count; i++)
        row(out, c, i, first, last);
    axis(out, c, first, last);
    fputs("</svg></figure>\n", out);
}
