/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What if: this demand, multiplied as a whole or by profile, on a described platform, with all its nodes and with those
 * lost that may fail. Copies are taken to run in step, so peaks multiply as means do: the careful case. Latency and
 * throughput come from queueing.h, fitted to what was recorded: as many requesters as were in flight at most, thinking
 * for the rest of their time.
 *
 * Written as FACTORS[@FILE], FACTORS being 2x (all of it twice) or PROFILE=2+PROFILE=0.5; several with commas between.
 */
#ifndef UNBLEND_ANALYZER_SCENARIO_H
#define UNBLEND_ANALYZER_SCENARIO_H

#include "analyzer/report.h"

#define SCENARIO_FACTORS 16
#define SCENARIO_SEEN    2.0 /* more than so many times what was seen is a guess */
#define SCENARIO_FULL    0.8 /* so is what uses more of the platform */

struct scenario_factor {
    char profile[32];
    double factor;
};

struct scenario {
    char *name; /* as it was written */
    double all; /* 1 unless all of it is multiplied */
    struct scenario_factor factors[SCENARIO_FACTORS];
    unsigned factor_count;
    bool has_offer;
    struct offer offer; /* another platform, if it has one */
};

struct scenario_list {
    struct scenario *list;
    unsigned count;
};

struct scenario_result {
    const struct scenario *scenario;
    const struct offer *offer;
    unsigned nodes; /* that work */
    bool reached;   /* layer of the demand */
    double mean[METRIC_COUNT], p95[METRIC_COUNT], max[METRIC_COUNT]; /* seconds; NAN when not known */
    double use_mean, use_p95, use_max; /* of the limit that is nearest */
    enum metric_id binding;
    double served;        /* of the highest second's demand, 0..1 */
    double ops_s;         /* predicted, on average; NAN when the platform's latency or limits are not known */
    double latency_ns, latency99_ns;
    bool beyond_seen, beyond_full;
};

/* 0 or -errno; what is wrong is logged in one line. */
int scenarios_parse(const char *text, struct scenario_list *out);
/* Whether each is of a profile that there is, and of a platform: its own, or the report's. 0 or -EINVAL, alike. */
int scenarios_check(const struct scenario_list *list, const struct catalogue *catalogue, bool has_offer);
void scenarios_clear(struct scenario_list *list);

/* The scenarios on the report's platform or their own: for each, with all nodes, and without those that may fail. *out
   has 2 * count places at least; what it cannot reckon is left out. Returns how many there are. */
unsigned scenarios_run(const struct scenario_list *list, const struct report *report, struct scenario_result *out);

#endif
