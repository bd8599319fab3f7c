/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job's volumes: what was done to each, which files, and who hangs there. And what the tables of a job share. */
#ifndef UNBLEND_ANALYZER_VIEW_TEXT_VOLUME_H
#define UNBLEND_ANALYZER_VIEW_TEXT_VOLUME_H

#include "analyzer/aggregate.h"
#include "analyzer/human.h"
#include "analyzer/view/draw.h"

void text_heading(const struct pen *pen, const char *text);

/* The quantile as unit() writes it; "" when there is none. buffer: HUMAN_SIZE. */
const char *text_quantile(char *buffer, const struct histogram *h, double q, bool skip_zeros,
                          char *(*unit)(char *, double));

/* In full where that takes no more columns; else by three of its digits. buffer: HUMAN_SIZE. */
const char *text_count(char *buffer, uint64_t count, int width);

void text_volumes(const struct pen *pen, const struct job_total *job, const struct aggregate *totals);

#endif
