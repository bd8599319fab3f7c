/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small drawings in text: Unicode blocks where the locale has them, ASCII where not. */
#ifndef UNBLEND_ANALYZER_VIEW_DRAW_H
#define UNBLEND_ANALYZER_VIEW_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/histogram.h"

enum tone {
    TONE_PLAIN,
    TONE_STRONG,
    TONE_FAINT,
    TONE_GOOD,
    TONE_BAD,
};

struct pen {
    FILE *out;
    bool utf8;
    bool color; /* escape codes are welcome: a terminal, and no NO_COLOR */
};

void pen_init(struct pen *pen, FILE *out);

/* Switches to a tone; TONE_PLAIN ends it. */
void draw_tone(const struct pen *pen, enum tone tone);

/* Text from outside, at most width columns (0: any number); control characters become "?". Returns
 * its columns. */
unsigned draw_text(const struct pen *pen, const char *text, unsigned width);

/* A bar of fraction 0..1 in a field of that many columns. */
void draw_bar(const struct pen *pen, double fraction, unsigned width);

/* Sentences, "; " between them, wrapped inside [indent, width). */
void draw_paragraph(const struct pen *pen, const char *const *sentences, uint32_t count,
                    unsigned indent, unsigned width);

/* A sentence that is put together with its own pen, in plain tone, to be wrapped as a whole when it is complete. */
struct draft {
    struct pen pen;
    const struct pen *to;
    char *text;
    size_t size;
};

void draft_begin(struct draft *draft, const struct pen *pen);
/* Writes it from a column on, up to which the line is written already, and its further lines inside [indent, width). */
void draft_end(struct draft *draft, unsigned column, unsigned indent, unsigned width);

/* An axis of octaves: each takes DRAW_OCTAVE columns. */
#define DRAW_OCTAVE 2

struct axis {
    unsigned first, last; /* octaves: octave n holds values of n significant bits, 0 the value 0 */
};

/* Widens the axis to hold a histogram; a zeroed axis is empty. */
void axis_hold(struct axis *axis, const struct histogram *h);
/* One row of columns, as high as the octave is frequent among the row's. */
void draw_octaves(const struct pen *pen, const struct axis *axis, const struct histogram *h);
/* Labels under every fourth octave, its lower bound written by label(). */
void draw_axis(const struct pen *pen, const struct axis *axis, char *(*label)(char *, double));

#endif
