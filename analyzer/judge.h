/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job's operations, given to the catalogue's patterns. A process is named as a whole where the catalogue's bounds on
 * behaviour allow it (on all volumes, then volume by volume, reading and writing apart); what they do not name, and
 * what belongs to no process, is unmixed.
 */
#ifndef UNBLEND_ANALYZER_JUDGE_H
#define UNBLEND_ANALYZER_JUDGE_H

#include "analyzer/aggregate.h"
#include "analyzer/catalogue.h"
#include "analyzer/part.h"
#include "analyzer/resample.h"
#include "analyzer/spells.h"

/* Adds to parts[job->volume_count][catalogue->count + 1]: volumes in the job's order, profiles in the catalogue's, the
   last being unknown; and draws of them to `draws`, unless that is NULL; and to spells, unless that is NULL, when
   its processes did it. 0, -ENOMEM or -ERANGE. */
int judge_job(const struct catalogue *catalogue, const struct job_total *job, struct part *parts, struct draws *draws,
              struct spells *spells);

/* Whether the job's processes do one thing together. 1, 0 or -ENOMEM. */
int judge_team(const struct catalogue *catalogue, const struct job_total *job);

/* The first half of it: what processes do, and, added to rests[job->volume_count], what is to be judged with what belongs to
   none. A process that is on several volumes counts on each. */
int judge_processes(const struct catalogue *catalogue, const struct job_total *job, struct tally *rests,
                    struct part *parts, struct spells *spells);

/* And the second: adds what belongs to no process, and those rests, which it spoils, to parts that hold what processes do. */
int judge_others(const struct catalogue *catalogue, const struct job_total *job, struct tally *rests,
                 struct part *parts, struct draws *draws);

#endif
