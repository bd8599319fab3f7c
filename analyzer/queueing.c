/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/queueing.h"

#include <math.h>

#define STEPS_MAX 100000.0 /* of the recursion; more requesters are taken in larger steps */
#define Z99       2.326

/* The recursion adds one requester at a time; where their number is no integer, the last step is a part of one. */
void queueing_solve(const struct queueing *q, struct queueing_result *out)
{
    double servers = fmax(q->servers, 1), queue_s = q->service_s / servers, delay_s = q->service_s - queue_s;
    double step = fmax(1, q->requesters / STEPS_MAX), n = 0, waiting = 0, rate = 0, response = q->service_s, others = 0;

    while (n < q->requesters) {
        double next = fmin(n + step, q->requesters);

        others = n > 0 ? waiting * fmin(1, (next - 1 > 0 ? next - 1 : 0) / n) : 0;
        response = queue_s * (1 + others) + delay_s;
        rate = next / (response + q->think_s);
        waiting = rate * queue_s * (1 + others);
        n = next;
    }
    *out = (struct queueing_result){
        .rate = rate,
        .response_s = response,
        .use = fmin(rate * queue_s, 1),
    };
    if (q->requesters > 1) {
        /* The others at the station, of whom as many as there are servers but one keep nobody waiting. */
        double most = q->requesters - 1, there = others + rate * delay_s * most / q->requesters;
        double p = fmin(there / most, 1), high = fmin(most, there + Z99 * sqrt(most * p * (1 - p)));

        out->wait99_s = queue_s * fmax(high - (servers - 1), 0);
    }
}
