/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pipeline that a job's patterns, ratios and timing speak for, if any. */
#ifndef UNBLEND_ANALYZER_PIPELINE_H
#define UNBLEND_ANALYZER_PIPELINE_H

#include "analyzer/classify.h"

/*
 * Fills in *share from the job and its patterns: the catalogue's first pipeline of which every requirement holds; or
 * unknown, as surely as its patterns are known on average, with what the others lack. A job has one pipeline, so its
 * shares are 1. 0 or -ENOMEM; the evidence is the list's to free.
 */
int pipeline_of(const struct catalogue *catalogue, const struct job_total *job,
                const struct profile_list *patterns, struct profile_share *share);

#endif
