/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report leaves null or less exact, and why. */
#ifndef UNBLEND_ANALYZER_GAPS_H
#define UNBLEND_ANALYZER_GAPS_H

struct report;

/* Something that is not known, and why. */
struct gap {
    const char *hook;
    const char *why;
};

/* Fills report->gaps, clocks and clock_gap from its totals, its offer and what the caller has set. report_clear()
   frees them. 0 or -ENOMEM. */
int gaps_find(struct report *report);

#endif
