/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job in time: average against peak, spikes and how often they come, checkpoints, and how long it takes to get going.
 * Everything is in slots of the recording's intervals. A spike is a run of slots of at least half of the fullest one,
 * with what the slots before and behind it have beyond the usual.
 */
#ifndef UNBLEND_ANALYZER_RHYTHM_H
#define UNBLEND_ANALYZER_RHYTHM_H

#include "analyzer/series.h"

#define RHYTHM_SPIKES 50 /* that are kept one by one */

struct spike {
    int64_t start_ms; /* since 1970 */
    double length_s, bytes, peak; /* peak: bytes a second in its fullest slot */
};

struct rhythm {
    double mean, peak; /* bytes a second, peak that of the fullest slot, or the mean where that was not all watched */
    struct spike spikes[RHYTHM_SPIKES];
    uint32_t spike_count; /* all of them */
    double period_s;      /* between the starts of spikes, the median; NAN: fewer than three, or no rhythm */
    double steadiness;    /* of it: 1 - median deviation / period, 0..1 */
    double length_s, bytes; /* of a spike, the medians */
    double ramp_s;        /* until demand first reaches half of what it is on average later; NAN: it does not */
};

/* Of a set of demands, which were watched for so long: the first slot and the last one may be parts of their interval.
   0, -ENOMEM, or -ENODATA for an empty series. */
int rhythm_of(const struct series *series, unsigned demands, double watched_s, struct rhythm *out);

#endif
