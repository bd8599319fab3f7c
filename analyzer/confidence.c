/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/confidence.h"

#include <math.h>

#define CONTESTED_MIN 0.25 /* of a part */
#define SHARE_MIN     0.01 /* smaller parts are as sure as that */

/* 162 answers about recordings of 61 programs, 4 s each, whole and in windows of 2 s. Bounds were made while these were
   looked at: of 11,358 answers about them, about 56 that bounds were mended for and about 49 that nobody had looked at,
   0.94 were right that would be given with 0.97, and of the last ones 0.88. That something is unknown was right in 178
   windows of 10 s of 34 programs 0.74 times, and of 28 jobs 0.86 times. */
static const struct {
    double constant, match, stranger, unknown;
} process = {-4.08, 8.77, 0.92, 0.8};

/* 570 sums of one of 285 programs and 1,500 blends of two and three: 4,173 parts of profiles and 260 that are unknown.
   Where another profile would explain a part nearly as well, it was wrong no more often, so that is said, but counts for
   nothing. */
static const struct of_sum {
    double constant, log_share, left_over;
} sum = {2.86, 0.83, -1.12}, unknown_sum = {-0.29, 0.65, 0.89};

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

double confidence_of_match(double match)
{
    return process.stranger * logistic(process.constant + process.match * match);
}

bool confidence_contested(const struct part *part)
{
    return part->contested > 0 && part->contested >= CONTESTED_MIN * part_ops(part);
}

double confidence_of_part(const struct part *part, bool known, double share, double residual)
{
    const struct of_sum *by = known ? &sum : &unknown_sum;
    double ops = part_ops(part), of_processes = ops - part->summed;
    double of_sum = logistic(by->constant + by->log_share * log(fmax(share, SHARE_MIN)) +
                             by->left_over * (residual < RESIDUAL_P));

    /* What no signature would have taken of a process is rather unknown; what broke a bound may be either. */
    of_processes = known ? part->confidence
                         : process.unknown * (of_processes - fmin(part->rejected.ops, of_processes) / 2);
    return (of_processes + part->summed * of_sum) / ops;
}
