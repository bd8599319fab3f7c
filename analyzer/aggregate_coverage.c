/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What batches tell beside their records: nodes, the span, and what was not seen. */
#include "analyzer/aggregate_private.h"
#include "lib/saturate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#define AHEAD_NS    60000000000
#define NAMED_NODES 3

int64_t node_ahead_ns(const struct node_total *node, int64_t now_ns)
{
    int64_t ahead = node->last_ns == INT64_MIN ? 0 : node->last_ns - now_ns;

    return ahead > AHEAD_NS ? ahead : 0;
}

uint32_t aggregate_name_nodes(const struct aggregate *a, bool (*has)(const struct node_total *, const void *),
                              const void *context, const char *before, FILE *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < a->node_count; i++)
        if (has(&a->nodes[i], context) && count++ < NAMED_NODES)
            fprintf(out, "%s%s", count == 1 ? before : ", ", a->nodes[i].node);
    if (count > NAMED_NODES)
        fprintf(out, " and %u more", count - NAMED_NODES);
    return count;
}

int aggregate_keep(struct aggregate *a, const char **field, const char *value)
{
    if (!value || (*field && **field && strcmp(*field, value) == 0))
        return 0;
    *field = *value ? arena_strdup(&a->arena, value) : "";
    return *field ? 0 : -ENOMEM;
}

int aggregate_fill(struct aggregate *a, const char **field, const char *value)
{
    return *field && **field ? 0 : aggregate_keep(a, field, value);
}

struct node_total *aggregate_node(struct aggregate *a, const struct batch *batch)
{
    uint32_t hash = lookup_hash(batch->node, strlen(batch->node)), cursor = hash, at;
    struct node_total *node;

    while (lookup_next(&a->node_index, hash, &cursor, &at))
        if (strcmp(a->nodes[at].node, batch->node) == 0 && strcmp(a->nodes[at].cluster, batch->cluster) == 0)
            return &a->nodes[at];
    if (RESERVE(a->nodes, a->node, sizeof(*node)) || lookup_reserve(&a->node_index))
        return NULL;
    node = &a->nodes[a->node_count];
    if (aggregate_keep(a, &node->cluster, batch->cluster) ||
        aggregate_keep(a, &node->node, batch->node))
        return NULL;
    node->last_ns = INT64_MIN;
    lookup_insert(&a->node_index, hash, a->node_count++);
    return node;
}

double node_pressure(const struct node_total *node, uint64_t ns)
{
    /* The kernel adds it up every two seconds: a shorter time may get more than its own. */
    return node->pressure_of_ns ? fmin(1, (double)ns / (double)node->pressure_of_ns) : NAN;
}

static int add_bypasses(struct aggregate *a, const struct coverage *coverage)
{
    for (uint32_t i = 0; i < coverage->bypass_count; i++) {
        const struct bypass *from = &coverage->bypasses[i];
        struct bypass_total *bypass = NULL;

        for (uint32_t k = 0; !bypass && k < a->bypass_count; k++)
            if (strcmp(a->bypasses[k].what, from->what) == 0 &&
                strcmp(a->bypasses[k].device, from->device) == 0)
                bypass = &a->bypasses[k];
        if (bypass)
            continue;
        if (RESERVE(a->bypasses, a->bypass, sizeof(*bypass)))
            return -ENOMEM;
        bypass = &a->bypasses[a->bypass_count];
        if (aggregate_keep(a, &bypass->what, from->what) ||
            aggregate_keep(a, &bypass->device, from->device) ||
            aggregate_keep(a, &bypass->why, from->why))
            return -ENOMEM;
        a->bypass_count++;
    }
    return 0;
}

/* A range is said again until a batch that says it has arrived, and counts once; of one that was said in part nobody
   can tell how many operations the rest had. 0 or -ENOMEM. */
static int add_dropped(struct aggregate *a, const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->coverage.dropped_count; i++) {
        const struct dropped *range = &batch->coverage.dropped[i];
        uint64_t count = range->last - range->first + 1, known;

        if (twice_dropped(&a->dropped, batch, range, &known))
            return -ENOMEM;
        a->dropped_batches = saturate(a->dropped_batches, count - known);
        if (known == count)
            continue;
        if (known || range->ops == DROPPED_UNKNOWN) {
            a->dropped_unknown = true;
            continue;
        }
        a->dropped_ops = saturate(a->dropped_ops, range->ops);
        a->lost = saturate(a->lost, range->ops);
    }
    return 0;
}

#define SLOT_NS (FLOW_SLOT_MS * 1000000LL)
#define CLOCK_NS 1000000000LL /* by so much clocks may be corrected */

/* Whether an interval of the stream that the node's latest is of was made before that, or begins before its end. Of
   sums only those of one minute or hour and of another have an order. */
static bool is_set_back(const struct node_total *node, const struct batch *batch)
{
    const int64_t unit_ns = (int64_t)batch->interval_ms * 1000000;

    if (batch->rolled)
        return batch->seq < node->seq && batch->start_ns / unit_ns > (node->last_ns - 1) / unit_ns;
    return batch->seq < node->seq || batch->start_ns + CLOCK_NS < node->last_ns;
}

/* What lies between recordings of a node, and what several of them have. What comes without a stream, from a database,
   leaves out intervals in which nothing was done; of a minute or an hour it may have several sums, one in the other. */
static int watch(struct aggregate *a, struct node_total *node, const struct batch *batch, int64_t end_ns)
{
    const char *stream = batch->stream ? batch->stream : "", *boot = batch->boot_id ? batch->boot_id : "";
    const struct stretch *latest = a->watched.count ? &a->watched.list[a->watched.count - 1] : NULL;
    int64_t from = batch->start_ns / SLOT_NS, last = MAX(from, (end_ns - 1) / SLOT_NS);

    if (!*stream && latest)
        from = MIN(from, latest->last + 1);
    if (*stream && *node->stream && node->last_ns != INT64_MIN) {
        if (batch->start_ns > node->last_ns + SLOT_NS)
            a->unwatched_ns += (uint64_t)(batch->start_ns - node->last_ns);
        else if (!batch->rolled && batch->start_ns + SLOT_NS < node->last_ns &&
                 strncmp(stream, node->stream, sizeof(node->stream) - 1) != 0 &&
                 strncmp(boot, node->boot, sizeof(node->boot) - 1) == 0)
            a->twice_ns += (uint64_t)(MIN(end_ns, node->last_ns) - batch->start_ns);
    }
    if (*stream && strncmp(stream, node->stream, sizeof(node->stream) - 1) == 0)
        node->set_back |= is_set_back(node, batch);
    if (end_ns >= node->last_ns) {
        node->seq = batch->seq;
        snprintf(node->stream, sizeof(node->stream), "%s", stream);
        snprintf(node->boot, sizeof(node->boot), "%s", boot);
    }
    return watched_add(&a->watched, from, last);
}

uint32_t aggregate_unended(const struct aggregate *a, const struct job_total **first)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < a->job_count; i++)
        for (uint32_t k = 0; k < a->jobs[i].attempt_count; k++) {
            /* Others go on whatever their recorders do; those that record starts have a start and an end. */
            if (strcmp(a->jobs[i].kind, "command") != 0 || !a->jobs[i].attempts[k].start_ns ||
                a->jobs[i].attempts[k].end_ns)
                continue;
            if (!count++)
                *first = &a->jobs[i];
        }
    return count;
}

int aggregate_coverage(struct aggregate *a, struct node_total *node, const struct batch *batch)
{
    int64_t end = batch->start_ns + (int64_t)batch->duration_ns;

    a->lost = saturate(a->lost, batch->coverage.lost);
    a->killed = saturate(a->killed, batch->coverage.killed);
    a->unattributed = saturate(a->unattributed, batch->coverage.unattributed);
    a->overflow = saturate(a->overflow, batch->coverage.overflow);
    for (unsigned i = 0; i < SHED_COUNT; i++)
        a->shed_ms[i] = saturate(a->shed_ms[i], batch->coverage.shed_ms[i]);
    if (batch->pressure.known) {
        node->pressure.some_ns += batch->pressure.some_ns;
        node->pressure.full_ns += batch->pressure.full_ns;
        node->pressure_of_ns += batch->duration_ns;
    }
    if (add_dropped(a, batch) || watch(a, node, batch, end))
        return -ENOMEM;
    if (end >= node->last_ns) {
        node->last_ns = end;
        node->in_flight = batch->coverage.in_flight;
        if (aggregate_keep(a, &node->role, batch->role) ||
            aggregate_keep(a, &node->kernel, batch->kernel))
            return -ENOMEM;
    }
    if (!a->batches++ || batch->start_ns < a->start_ns)
        a->start_ns = batch->start_ns;
    if (end > a->end_ns)
        a->end_ns = end;
    if (batch->interval_ms > a->interval_ms)
        a->interval_ms = batch->interval_ms;
    return aggregate_hooks(a, node, &batch->coverage) ? -ENOMEM : add_bypasses(a, &batch->coverage);
}
