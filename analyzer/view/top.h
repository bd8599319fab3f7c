/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `unblend top` shows: samples, and the one table of columns that feeds the screen, batch mode
 * and JSON. A sample is one batch: its rows are processes, or jobs, or what records tell of
 * neither.
 */
#ifndef UNBLEND_ANALYZER_VIEW_TOP_H
#define UNBLEND_ANALYZER_VIEW_TOP_H

#include <jansson.h>

#include "analyzer/source.h"
#include "analyzer/view/draw.h"

struct top_row {
    uint32_t pid; /* 0 for a job */
    char user[24];
    const char *job, *command; /* the batch's */
    uint64_t read_bytes, write_bytes, fault_bytes;
    uint64_t ops, read_ops, write_ops, metadata_ops, errors;
    uint64_t cache_hits, cache_known; /* reads */
    bool faults_unknown;
    bool data_unknown, ops_unknown; /* not watched for now, for it would cost too much */
    uint64_t in_flight, oldest_ns; /* operations that run, and for how long the oldest has */
    struct histogram latency_ns; /* of all file operations */
};

struct top_sample {
    const struct batch *batch; /* rows point into it */
    double seconds;            /* what counts are divided by */
    struct top_row *rows;
    uint32_t count;
    struct top_row totals;
};

struct top_options {
    unsigned sort; /* a column */
    bool reverse;
    bool active;      /* only rows with operations */
    bool accumulated; /* amounts since the start instead of rates */
    bool jobs;        /* rows are jobs */
    bool paced;       /* on the screen, a sample is shown for as long as it took */
};

enum top_unit {
    TOP_PID,
    TOP_RATE, /* operations */
    TOP_BYTES,
    TOP_TIME, /* ns */
    TOP_SHARE,
    TOP_TEXT,
};

struct top_column {
    const char *title;
    const char *key; /* in JSON */
    const char *help;
    enum top_unit unit;
    int width;
    double (*number)(
        const struct top_row *row); /* a count, divided by the seconds unless it is TOP_TIME or TOP_SHARE */
    const char *(*text)(const struct top_row *row); /* of TOP_TEXT */
};

extern const struct top_column top_columns[];
extern const unsigned top_column_count;
#define TOP_DEFAULT_SORT 2

/* Rows of a batch, which must outlive the sample, sorted. 0, -ENOMEM or -ERANGE. */
int top_sample_new(const struct batch *batch, const struct top_options *options,
                   struct top_sample *out);
void top_sample_clear(struct top_sample *sample);

/* A cell, in the column's width; the buffer holds TOP_CELL bytes. */
#define TOP_CELL 64
const char *top_cell(const struct top_column *column, const struct top_row *row, double seconds,
                     char *buffer);

/* "coverage: ..." in one line, always shown. */
void top_coverage(const struct batch *batch, char *buffer, size_t size);
/* The process that has been longest in an operation, if for a second or more, in one line; else "". */
void top_stuck(const struct batch *batch, char *buffer, size_t size);
json_t *top_stuck_list(const struct batch *batch); /* all of them; NULL without memory */
/* Totals in one line. */
void top_totals(const struct top_sample *sample, char *buffer, size_t size);

/* One sample as text or as one line of JSON. 0, -ENOMEM or -EIO. */
int top_write_text(const struct pen *pen, const struct top_sample *sample,
                   const struct top_options *options);
int top_write_json(FILE *out, const struct top_sample *sample);

/* Runs until q, or until the source has nothing more and a key is pressed. 0, or -errno (logged).
   The source stays with the reading thread: it must not be freed afterwards, the program is to end.
 */
int top_screen(struct source *source, struct top_options *options, uint64_t count);

#endif
