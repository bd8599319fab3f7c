/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of storage under load: a closed network of one station and a delay. So many requesters each ask, wait for
 * the answer, and think; the station has servers that each take a fixed time. Solved by mean value analysis (Reiser and
 * Lavenberg 1980), of whoever is being served half being left when another one comes (Reiser 1979); several servers by
 * Seidmann's split of their time into a queue and a delay. A quantile of the waiting takes the others at the queue as
 * independent of each other. Requesters that keep a beat meet less than those that come at random: `crowding` is which
 * part of the waiting comes, and no station is faster than full. Beyond 80 % of what it can do, waiting grows faster
 * than any model is right.
 */
#ifndef UNBLEND_ANALYZER_QUEUEING_H
#define UNBLEND_ANALYZER_QUEUEING_H

struct queueing {
    double requesters; /* at a time, thinking or waiting; any number above 0 */
    double think_s;    /* between an answer and the next request */
    double service_s;  /* of one request, alone */
    double servers;    /* at least 1; rate = servers / service_s */
    double crowding;   /* 0..1; 1 for requesters that come at random */
};

struct queueing_result {
    double rate;      /* requests a second */
    double response_s; /* mean */
    double wait99_s;  /* 99th percentile of the wait before service */
    double use;       /* of what the station can do, 0..1 */
};

void queueing_solve(const struct queueing *q, struct queueing_result *out);

/* The crowding with which answers take that long, on average; 1 where there is nobody to meet. */
double queueing_crowding(const struct queueing *q, double response_s);

#endif
