/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of the report as JSON, for its view and its tests. */
#ifndef UNBLEND_ANALYZER_VIEW_JSON_H
#define UNBLEND_ANALYZER_VIEW_JSON_H

#include <jansson.h>

#include "analyzer/report.h"

/* NULL when there is no memory. All results are new references. */
json_t *json_report(struct report *report);

/* put() takes the value over; a value that is NULL makes *failed true, so that it is checked once.
 */
void json_put(bool *failed, json_t *to, const char *key, json_t *value);
void json_add(bool *failed, json_t *to, json_t *value);

json_t *json_number(double value);                 /* null for NAN */
json_t *json_text(const char *text);               /* null for NULL */
json_t *json_time(int64_t ns);                     /* RFC 3339 */
json_t *json_histogram(const struct histogram *h); /* [[lower, upper, count], ...] */
json_t *json_latency(const struct histogram *h);
json_t *json_size(const struct histogram *h);
/* Sizes of the regular files at their opens; null when none was opened. */
json_t *json_file_size(const struct tally *tally);
json_t *json_operations(const struct tally *tally, const struct aggregate *totals, const struct job_total *job);
json_t *json_error_codes(const struct record *record);
json_t *json_cached(const struct record *record); /* null where nothing is known */
json_t *json_of(const struct record *record); /* of which files reads, stats, seeks or closes were; the same */
/* What the threads that write, and their processes, received from the network; null where not all nodes of the job
   (NULL: of all) see it. */
json_t *json_received(const struct record *write, const struct aggregate *totals, const struct job_total *job);
/* Page faults on mapped files by kind; null for kinds that some node of the job (NULL: of all) could not see. */
json_t *json_faults(const struct tally *tally, const struct aggregate *totals, const struct job_total *job);
json_t *json_ratios(const struct tally *tally);

/* For how long what was left out, by its name. */
json_t *json_shed(const uint64_t shed_ms[SHED_COUNT]);

/* How evenly demand came, over the span of a job, which is that of the series and windows of one of its volumes,
   too. */
json_t *json_burst(const struct series *series, const struct windows *windows, const struct series *span,
                   const struct windows *windows_span);
/* What runs at once on a volume, of each operation too, and who is stuck in it. */
json_t *json_in_flight(const struct volume_total *volume, const struct report *report);
/* Which files were opened, how large they are together, and how often they were read; null when none was. */
json_t *json_working_set(const struct working *working);

/* An array, longest waited for first, with what is in no tree under null; null where no trees were recorded. */
json_t *json_trees(const struct volume_total *volume, const struct aggregate *totals);
/* What the storage side saw. */
json_t *json_storage(const struct report *report);
json_t *json_capacity(const struct report *report);
/* What the platform costs; null with its reason in "why" where that cannot be told. */
json_t *json_cost(const struct report *report);
json_t *json_findings(const struct finding_list *findings);
json_t *json_rhythm(const struct job_total *job, const struct aggregate *totals);
json_t *json_wait(const struct job_total *job);
json_t *json_suspects(const struct suspects *suspects);
/* Who would be one, were it not that it does something else. */
json_t *json_suspects_unlike(const struct suspects *suspects);

#endif
