/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/aggregate_private.h"

#include <errno.h>
#include <math.h>

/* What is in flight: of a moment, so it does not add up over time as the rest does. */

static struct gauge *find_gauge(struct volume_total *volume, const char *node, enum operation op)
{
    for (uint32_t i = 0; i < volume->gauge_count; i++)
        if (volume->gauges[i].node == node && volume->gauges[i].op == op)
            return &volume->gauges[i];
    if (RESERVE(volume->gauges, volume->gauge, sizeof(*volume->gauges)))
        return NULL;
    volume->gauges[volume->gauge_count] = (struct gauge){.node = node, .op = op, .end_ns = INT64_MIN};
    return &volume->gauges[volume->gauge_count++];
}

/* A process that hangs in one operation for a while is one entry, which gets older. */
static int add_stuck(struct aggregate *a, struct volume_total *volume, const char *node, const struct batch *batch,
                     const struct record *record, int64_t end_ns)
{
    const struct process *process = &batch->processes[record->process];
    struct stuck *stuck = NULL;

    for (uint32_t i = 0; !stuck && i < volume->stuck_count; i++)
        if (volume->stuck[i].node == node && volume->stuck[i].pid == process->pid &&
            volume->stuck[i].start_ns == process->start_ns && volume->stuck[i].op == record->op)
            stuck = &volume->stuck[i];
    if (!stuck) {
        if (RESERVE(volume->stuck, volume->stuck, sizeof(*stuck)))
            return -ENOMEM;
        stuck = &volume->stuck[volume->stuck_count];
        stuck->node = node;
        stuck->pid = process->pid;
        stuck->start_ns = process->start_ns;
        stuck->op = record->op;
        volume->stuck_count++;
    }
    stuck->end_ns = end_ns;
    stuck->count = record->in_flight;
    stuck->oldest_ns = record->oldest_ns;
    return aggregate_keep(a, &stuck->command, process->command);
}

int aggregate_gauge(struct aggregate *a, struct volume_total *volume, const struct batch *batch,
                    const struct record *record)
{
    int64_t end_ns = batch->start_ns + (int64_t)batch->duration_ns;
    struct node_total *node;
    struct gauge *gauge;

    if (!record->in_flight)
        return 0;
    node = aggregate_node(a, batch);
    gauge = node ? find_gauge(volume, node->node, record->op) : NULL;
    if (!gauge)
        return -ENOMEM;
    if (end_ns < gauge->end_ns)
        return 0;
    if (end_ns > gauge->end_ns)
        *gauge = (struct gauge){.node = gauge->node, .op = gauge->op, .end_ns = end_ns};
    gauge->count += record->in_flight;
    gauge->sum_ns += record->in_flight_ns;
    if (record->oldest_ns > gauge->oldest_ns)
        gauge->oldest_ns = record->oldest_ns;
    if (record->process == NO_INDEX || record->oldest_ns < STUCK_NS)
        return 0;
    return add_stuck(a, volume, node->node, batch, record, end_ns);
}

static int64_t last_of(const struct aggregate *a, const char *node)
{
    for (uint32_t i = 0; i < a->node_count; i++)
        if (a->nodes[i].node == node)
            return a->nodes[i].last_ns;
    return INT64_MAX;
}

bool stuck_now(const struct stuck *stuck, const struct aggregate *a)
{
    return stuck->end_ns >= last_of(a, stuck->node);
}

/* By Little's law (Little, 1961): the time spent in operations, those included that have not returned, over the time
   that has passed. */
static double mean_of(const struct volume_total *volume, enum operation op, bool file, const struct in_flight *flight,
                      double span_ns)
{
    double inside_ns = fmin((double)flight->sum_ns, (double)flight->now * span_ns);

    for (enum operation i = OP_FIRST; i < OP_COUNT; i++)
        if ((op == OP_NONE && operation_is_file(i) == file) || i == op)
            inside_ns += (double)volume->tally.op[i].latency_sum_ns;
    return span_ns > 0 ? inside_ns / span_ns : NAN;
}

void volume_in_flight(const struct volume_total *volume, const struct aggregate *a, enum operation op,
                      struct in_flight *out)
{
    double span_ns = (double)(a->end_ns - a->start_ns);
    uint64_t least;

    *out = (struct in_flight){.known = op ? operation_is_file(op)
                                              : volume->looked || tally_file_ops(&volume->tally) > 0};
    for (uint32_t i = 0; i < volume->gauge_count; i++) {
        const struct gauge *gauge = &volume->gauges[i];

        if ((op && gauge->op != op) || gauge->end_ns < last_of(a, gauge->node))
            continue; /* a later interval had none */
        out->known = true;
        out->now += gauge->count;
        out->sum_ns += gauge->sum_ns;
        if (gauge->oldest_ns > out->oldest_ns)
            out->oldest_ns = gauge->oldest_ns;
    }
    out->mean = mean_of(volume, op, out->known, out, span_ns);
    if (!volume->looked || !out->known)
        return;
    /* There were never fewer at once than on average. */
    out->max = volume->in_flight_max[op];
    least = isnan(out->mean) ? 0 : (uint64_t)ceil(out->mean - 1e-9);
    if (out->max < least)
        out->max = least;
    if (out->max < out->now)
        out->max = out->now;
}
