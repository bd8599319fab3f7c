/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as one HTML file: no network, whole without JavaScript, for screens and for paper. Each section writes to
 * the file and leaves errors to ferror(); those that compute return 0 or -ENOMEM.
 */
#ifndef UNBLEND_ANALYZER_VIEW_HTML_H
#define UNBLEND_ANALYZER_VIEW_HTML_H

#include <stdio.h>

#include "analyzer/human.h"
#include "analyzer/report.h"

/* Made from files by the build. */
extern const char report_css[], report_js[];

/* Text from outside: what means something to HTML is escaped, control characters become U+FFFD. */
void html_text(FILE *out, const char *text);

/* A heading of the second order, with its anchor. */
void html_heading(FILE *out, const char *anchor, const char *text);

/* A table inside something that scrolls; columns are given as "name" or "<name" (to the left), NULL ends them. */
void html_table(FILE *out, const char *caption, const char *const *columns);
void html_table_end(FILE *out);

/* Cells. NAN is a dash. value is what the table is sorted by. */
void html_name(FILE *out, const char *text);   /* heads its row */
void html_words(FILE *out, const char *text);  /* to the left */
void html_cell(FILE *out, const char *text, double value);
void html_count(FILE *out, uint64_t count);
void html_bytes(FILE *out, double bytes);
void html_rate(FILE *out, double rate);
void html_byte_rate(FILE *out, double rate);   /* binary units a second */
void html_seconds(FILE *out, double seconds);
void html_percent(FILE *out, double share);
void html_bar(FILE *out, double fraction, unsigned color);
/* A quantile in the unit of a writer; a dash when the histogram is empty. */
void html_quantile(FILE *out, const struct histogram *h, double q, bool skip_zeros, char *(*unit)(char *, double));

/* Numbers for running text; what is returned is the buffer. */
char *html_percent_text(char *buffer, double share);
char *html_byte_rate_text(char *buffer, double rate);
char *html_metric_text(char *buffer, enum metric_id metric, double value);
/* "03-01 12:00:07" */
char *html_moment(char *buffer, int64_t ns);

/* Table of operations that some tally has. */
void html_operations(FILE *out, const struct tally *tally);
void html_profiles(FILE *out, const struct profile_list *list);

/* Sections, in the order of the report. */
int html_answers(FILE *out, struct report *report);
int html_who(FILE *out, struct report *report);
int html_how(FILE *out, struct report *report);
int html_when(FILE *out, struct report *report);
int html_where(FILE *out, struct report *report);
void html_trees(FILE *out, const struct aggregate *totals);
/* Of the section on capacity: prices of the platform, which there must be. */
void html_cost(FILE *out, const struct report *report);
int html_capacity(FILE *out, struct report *report);
int html_wrong(FILE *out, struct report *report);
int html_unseen(FILE *out, struct report *report);

#endif
