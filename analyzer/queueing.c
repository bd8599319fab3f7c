/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/queueing.h"

#include <math.h>

#define STEPS_MAX 100000.0 /* of the recursion; more requesters are taken in larger steps */
#define HALVINGS  30
#define Z99       2.326

/* The recursion adds one requester at a time; where their number is no integer, the last step is a part of one. */
void queueing_solve(const struct queueing *q, struct queueing_result *out)
{
    double servers = fmax(q->servers, 1), queue_s = q->service_s / servers, delay_s = q->service_s - queue_s;
    double step = fmax(1, q->requesters / STEPS_MAX), n = 0, rate = 0, response = q->service_s;
    double there = 0, others = 0; /* at the queue: of all, and of those that one who comes meets */

    while (n < q->requesters) {
        double next = fmin(n + step, q->requesters), met = n > 0 ? fmin(1, (next - 1 > 0 ? next - 1 : 0) / n) : 0;

        others = there * met;
        response = queue_s * (1 + q->crowding * (others - met * rate * queue_s / 2)) + delay_s;
        rate = fmin(next / (response + q->think_s), 1 / queue_s);
        response = next / rate - q->think_s;
        there = rate * (response - delay_s);
        n = next;
    }
    *out = (struct queueing_result){
        .rate = rate,
        .response_s = response,
        .use = fmin(rate * queue_s, 1),
    };
    if (q->requesters > 1) {
        /* The others at the station, of whom as many as there are servers but one keep nobody waiting. */
        double most = q->requesters - 1, all = others + rate * delay_s * most / q->requesters;
        double p = fmin(all / most, 1), high = fmin(most, all + Z99 * sqrt(most * p * (1 - p)));

        out->wait99_s = fmax(q->crowding * queue_s * fmax(high - (servers - 1), 0), response - q->service_s);
    }
}

double queueing_crowding(const struct queueing *q, double response_s)
{
    double low = 0, high = 1;

    if (!(q->requesters > 1))
        return 1;
    for (unsigned i = 0; i < HALVINGS; i++) {
        struct queueing half = *q;
        struct queueing_result r;

        half.crowding = (low + high) / 2;
        queueing_solve(&half, &r);
        if (r.response_s < response_s)
            low = half.crowding;
        else
            high = half.crowding;
    }
    return (low + high) / 2;
}
