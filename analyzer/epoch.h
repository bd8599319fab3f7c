/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Epochs: reads that come again. Phases of reading with a pause between show them: at least three, alike in bytes (one
 * more may be cut off at the end), each about all of the files that the job has opened on the volume that it reads most
 * from. Where it is not known which those are, a job that writes in every pause may read from checkpoint to checkpoint.
 * Where one follows the other, the working set does: each byte of it was read a whole number of times, at least twice,
 * as far as can be told, and not by several processes at once that each read all of it.
 */
#ifndef UNBLEND_ANALYZER_EPOCH_H
#define UNBLEND_ANALYZER_EPOCH_H

#include "analyzer/aggregate.h"
#include "analyzer/phase.h"

struct epochs {
    unsigned count; /* 0: none that could be told apart */
    bool of_set;    /* told by the working set, so all of them together */
    double length_s, bytes; /* from start to start, and read in each: the medians, or averages */
};

void epochs_of(const struct job_total *job, const struct phases *phases, struct epochs *out);
/* "epochs: 3, one every 40 s, each reads about 90 GiB" */
void epochs_write(FILE *out, const struct epochs *epochs);

#endif
