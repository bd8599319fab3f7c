/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What watching costs: the time that this process takes, and the run time of the programs while the kernel measures
 * it. Measuring takes two readings of the clock for each run, so it is switched on for some intervals only.
 */
#ifndef UNBLEND_PROBE_PRICE_H
#define UNBLEND_PROBE_PRICE_H

#include <stdbool.h>
#include <stdint.h>

struct price {
    int stats;      /* the kernel measures while this descriptor is open; -1 */
    uint64_t run_ns;
    int64_t cpu_ns, at_ns; /* when it began: at_ns is monotonic */
};

/* Begins an interval. run_ns: of the programs, as load_run_ns() has it. */
void price_begin(struct price *price, uint64_t run_ns, bool measure);

/*
 * Ends it: the price as a share of all processors. *whole: the programs' run time is in it. What cannot be measured
 * (it takes CAP_SYS_ADMIN) is never part of it.
 */
double price_end(struct price *price, uint64_t run_ns, bool *whole);

void price_clear(struct price *price);

#endif
