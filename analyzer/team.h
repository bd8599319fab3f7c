/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who of a job that is named as a whole takes part in what it does. A job copies where its processes together write what
 * they read; but not where one of them packs what another unpacks, and not who walks the name space meanwhile.
 */
#ifndef UNBLEND_ANALYZER_TEAM_H
#define UNBLEND_ANALYZER_TEAM_H

#include <stdbool.h>

#include "analyzer/court.h"

/* 1: in[job->unit_count], malloc'ed, tells of each unit whether it takes part in what the job is, a profile; 0: too much is
   read and written by processes that do neither the one, nor the other, nor both alike, or are something else by themselves.
   Or -ENOMEM. */
int team_of(const struct catalogue *catalogue, const struct profile *profile, const struct job_total *job, bool **in);

/* All that these do, and all that no process has to itself, is the profile's, volume by volume. 0, -ENOMEM or -ERANGE. */
int team_give(struct court *court, const struct profile *profile, double match, const bool *in);

#endif
