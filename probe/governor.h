/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides how much is watched, from what watching costs: above the limit for three intervals in a row it steps down,
 * and after as many well below it, up again. A step up that had to be taken back makes the next one wait twice as long.
 * Knows no kernel and no clock: the price comes in, the step goes out.
 */
#ifndef UNBLEND_PROBE_GOVERNOR_H
#define UNBLEND_PROBE_GOVERNOR_H

#include <stdbool.h>

#include "probe/probe.h"

struct governor {
    double limit; /* as a share of the node; 0: none */
    enum probe_step step;
    unsigned above, below; /* intervals in a row */
    unsigned patience;     /* intervals below until the next step up */
    unsigned calm;         /* intervals since the last step */
    unsigned unmeasured;   /* intervals since the programs were measured */
    bool climbed;          /* the last step was up */
};

void governor_init(struct governor *governor, double limit);

/*
 * An interval is over. price: what watching has cost in it, as a share of the node; whole: the programs' run time is
 * part of it, else only this process's. The step for the next interval.
 */
enum probe_step governor_interval(struct governor *governor, double price, bool whole);

/* Whether the programs shall be measured in the next interval: that costs a little itself. */
bool governor_measures(const struct governor *governor);

#endif
