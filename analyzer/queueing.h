/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of storage under load: a closed network of one station and a delay. So many requesters each ask, wait for
 * the answer, and think; the station has servers that each take a fixed time. Solved by mean value analysis (Reiser and
 * Lavenberg 1980), several servers by Seidmann's split of their time into a queue and a delay. A quantile of the
 * waiting takes the others at the queue as independent of each other. Beyond 80 % of what the station can do, waiting
 * grows faster than any model is right.
 */
#ifndef UNBLEND_ANALYZER_QUEUEING_H
#define UNBLEND_ANALYZER_QUEUEING_H

struct queueing {
    double requesters; /* at a time, thinking or waiting; any number above 0 */
    double think_s;    /* between an answer and the next request */
    double service_s;  /* of one request, alone */
    double servers;    /* at least 1; rate = servers / service_s */
};

struct queueing_result {
    double rate;      /* requests a second */
    double response_s; /* mean */
    double wait99_s;  /* 99th percentile of the wait before service */
    double use;       /* of what the station can do, 0..1 */
};

void queueing_solve(const struct queueing *q, struct queueing_result *out);

#endif
