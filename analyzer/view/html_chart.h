/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures as inline SVG, each a <figure> with a caption, words for those who cannot see it, and its figures as a table
 * where they are not in one already. They are 480 units wide, so that text stays readable on a telephone.
 */
#ifndef UNBLEND_ANALYZER_VIEW_HTML_CHART_H
#define UNBLEND_ANALYZER_VIEW_HTML_CHART_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/histogram.h"

typedef char *chart_unit(char *buffer, double value);

/* Colors of the style sheet, fixed to what they stand for. */
enum chart_color { CHART_READ, CHART_WRITE, CHART_METADATA, CHART_OTHER, CHART_UNKNOWN = 7, CHART_COLORS = 12 };

/* A color for each of a list, the grey one aside: the twelfth has the first one's again. */
unsigned chart_color(unsigned number);

/* One quantity over time. */
struct chart_timeline {
    const char *title;
    unsigned color;
    int64_t from_ms; /* since 1970 */
    double step_ms;  /* of a bin */
    size_t count;
    const double *mean, *max; /* by bin */
    chart_unit *unit;
};
void chart_timeline(FILE *out, const struct chart_timeline *chart);

/* A row for each name; the values of a row are drawn as high as they are frequent among the row's. */
struct chart_shape {
    const char *title;
    const char *const *names;
    const struct histogram *const *histograms;
    const unsigned *colors;
    unsigned count;
    chart_unit *unit;
};
void chart_shapes(FILE *out, const struct chart_shape *chart);

/* Shares of a whole, as one bar with a legend. */
struct chart_share {
    const char *name;
    double share;
    unsigned color;
};
void chart_shares(FILE *out, const char *title, const struct chart_share *shares, unsigned count);

/* A cell for each row and column; NAN for those that were not watched. */
struct chart_heat {
    const char *title;
    size_t rows, columns;
    const double *values; /* row after row */
    const char *(*row_name)(char *buffer, size_t row, const void *context);
    const char *column_name; /* of all: "hour" */
    unsigned label_every;    /* columns */
    const void *context;
    chart_unit *unit;
};
void chart_heat(FILE *out, const struct chart_heat *chart);

/* The next "round" number at or above: 1, 2, 5 times a power of ten (or of two, for bytes). */
double chart_round_up(double value, int binary);

#endif
