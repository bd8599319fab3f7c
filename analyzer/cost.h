/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the described platform costs, as far as its file and the report tell it. Every view says it from here: each
 * figure is known, or NAN with the reason in words. Money is in the platform's currency; a TB is 10^12 bytes.
 */
#ifndef UNBLEND_ANALYZER_COST_H
#define UNBLEND_ANALYZER_COST_H

#include "analyzer/report.h"

enum cost_figure {
    COST_PRICE,  /* of all of it, over its life: the file's, else that of its tiers together */
    COST_TB,     /* of a usable TB, over its life */
    COST_TB_YEAR,
    COST_HOUR,
    COST_JOB,    /* of each job of the report: the span's hours, divided among them evenly */
    COST_CORES,  /* that converged nodes give up, all together */
    COST_GPU_HOURS,
    COST_FIGURES
};

struct cost_info {
    const char *key;   /* in JSON */
    const char *words; /* for people */
    bool money;
};

extern const struct cost_info cost_infos[COST_FIGURES];

struct cost {
    double figure[COST_FIGURES];   /* NAN */
    const char *why[COST_FIGURES]; /* where it is NAN, else NULL */
    bool of_tiers;                 /* the price is that of the tiers together */
};

void cost_of(const struct report *report, struct cost *out);

/* Of a TB of one tier. NAN with the reason in *why, or the figure and NULL. */
double cost_of_tier(const struct offer_tier *tier, const char **why);

#endif
