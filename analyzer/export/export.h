/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job did on a volume, written as the input of a benchmark that does much the same. */
#ifndef UNBLEND_ANALYZER_EXPORT_EXPORT_H
#define UNBLEND_ANALYZER_EXPORT_EXPORT_H

#include <stdio.h>

#include "analyzer/aggregate.h"

/* Totals are sorted; volume: by name, or NULL for the one of each job that most bytes, and then operations, were on. */
struct export {
    const struct aggregate *totals;
    const char *volume;
    bool fill; /* files are filled with data before they are read */
};

/* The job's volume that is exported; NULL for none. */
const struct volume_total *export_volume(const struct export *export, const struct job_total *job);

/* From the job's first interval with I/O to its last one, in seconds. */
double export_span_s(const struct job_total *job);

/* A name in a comment of the file: it comes from outside, and a line break in it would be another line. */
void export_put_name(FILE *out, const char *name);

/* Write the whole file. 0, -ENODATA when no job did anything there, -ENOMSG when none read anything there, which is all
   that DLIO is about, or -ENOMEM. */
int export_fio(const struct export *export, FILE *out);
int export_dlio(const struct export *export, FILE *out);

#endif
