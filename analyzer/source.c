/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

static uint32_t keep_jobs(struct batch *batch, const char *glob, uint32_t *jobs)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < batch->job_count; i++) {
        jobs[i] = NO_INDEX;
        if (fnmatch(glob, batch->jobs[i].name, 0) == 0) {
            batch->jobs[kept] = batch->jobs[i];
            jobs[i] = kept++;
        }
    }
    return kept;
}

static uint32_t keep_processes(struct batch *batch, const uint32_t *jobs, uint32_t *processes)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < batch->process_count; i++) {
        processes[i] = NO_INDEX;
        if (jobs[batch->processes[i].job] != NO_INDEX) {
            batch->processes[kept] = batch->processes[i];
            batch->processes[kept].job = jobs[batch->processes[i].job];
            processes[i] = kept++;
        }
    }
    return kept;
}

static uint32_t keep_records(struct batch *batch, const uint32_t *jobs, const uint32_t *processes)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < batch->record_count; i++) {
        struct record *record = &batch->records[i];

        if (jobs[record->job] == NO_INDEX) {
            record_clear(record);
            continue;
        }
        record->job = jobs[record->job];
        if (record->process != NO_INDEX)
            record->process = processes[record->process];
        batch->records[kept++] = *record;
    }
    return kept;
}

static uint32_t keep_flows(struct batch *batch, const uint32_t *jobs)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < batch->flow_count; i++) {
        struct flow *flow = &batch->flows[i];

        if (jobs[flow->job] == NO_INDEX) {
            flow_clear(flow);
            continue;
        }
        flow->job = jobs[flow->job];
        batch->flows[kept++] = *flow;
    }
    return kept;
}

static uint32_t keep_trees(struct batch *batch, const uint32_t *jobs)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < batch->tree_count; i++) {
        struct tree *tree = &batch->trees[i];

        if (jobs[tree->job] == NO_INDEX) {
            tree_clear(tree);
            continue;
        }
        tree->job = jobs[tree->job];
        batch->trees[kept++] = *tree;
    }
    return kept;
}

static bool same_keys(const struct station *a, const struct station *b)
{
    return a->layer == b->layer && a->volume == b->volume && a->request == b->request && a->party == b->party &&
           a->job == b->job && strcmp(a->server ? a->server : "", b->server ? b->server : "") == 0;
}

/* The storage side stays whole; what it did for others it did for somebody, and all of them are one. 0 or -errno. */
static int forget_jobs(struct batch *batch, const uint32_t *jobs)
{
    uint32_t kept = 0;
    int err = 0;

    for (uint32_t i = 0; i < batch->station_count; i++) {
        struct station *station = &batch->stations[i];
        uint64_t in_flight = station->in_flight;
        uint32_t like = 0;

        if (station->job != NO_INDEX)
            station->job = jobs[station->job];
        if (station->job == NO_INDEX && station->party == PARTY_JOB)
            station->party = PARTY_UNKNOWN;
        while (like < kept && !same_keys(&batch->stations[like], station))
            like++;
        if (like == kept) {
            batch->stations[kept++] = *station;
            continue;
        }
        in_flight += batch->stations[like].in_flight; /* of the same moment */
        err = err ? err : station_add(&batch->stations[like], station);
        batch->stations[like].in_flight = in_flight;
        station_clear(station);
    }
    batch->station_count = kept;
    return err;
}

int source_filter(const struct source_window *window, struct batch *batch)
{
    _cleanup_free_ uint32_t *jobs = NULL, *processes = NULL;
    int err;

    if (!window)
        return 1;
    if (batch->start_ns < window->since_ns || batch->start_ns >= window->until_ns ||
        (window->node && fnmatch(window->node, batch->node, 0) != 0))
        return 0;
    if (!window->job)
        return 1;
    jobs = calloc(batch->job_count + 1, sizeof(*jobs));
    processes = calloc(batch->process_count + 1, sizeof(*processes));
    if (!jobs || !processes)
        return -ENOMEM;
    batch->job_count = keep_jobs(batch, window->job, jobs);
    batch->process_count = keep_processes(batch, jobs, processes);
    batch->record_count = keep_records(batch, jobs, processes);
    batch->flow_count = keep_flows(batch, jobs);
    batch->tree_count = keep_trees(batch, jobs);
    err = forget_jobs(batch, jobs);
    return err ? err : 1;
}
