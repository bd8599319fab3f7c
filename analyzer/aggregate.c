/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/aggregate.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>

#include "analyzer/aggregate_private.h"
#include "lib/cleanup.h"

static int add_string(struct aggregate *a, const char ***list, uint32_t *count, uint32_t *capacity,
                      const char *value)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp((*list)[i], value) == 0)
            return 0;
    if (vector_reserve((void **)list, capacity, *count, sizeof(**list)) ||
        aggregate_keep(a, &(*list)[*count], value))
        return -ENOMEM;
    (*count)++;
    return 0;
}

struct volume_total *aggregate_volume(struct aggregate *a, struct volume_total **volumes,
                                        uint32_t *count, uint32_t *capacity,
                                        const struct volume *from)
{
    struct volume_total *volume = NULL;

    for (uint32_t i = 0; !volume && i < *count; i++)
        if (strcmp((*volumes)[i].name, from->name) == 0)
            volume = &(*volumes)[i];
    if (!volume) {
        if (vector_reserve((void **)volumes, capacity, *count, sizeof(*volume)))
            return NULL;
        volume = &(*volumes)[*count];
        if (aggregate_keep(a, &volume->name, from->name))
            return NULL;
        (*count)++;
    }
    if (aggregate_fill(a, &volume->source, from->source) ||
        aggregate_fill(a, &volume->fstype, from->fstype) || aggregate_fill(a, &volume->lower, from->lower))
        return NULL;
    if (from->scope == SCOPE_SHARED)
        volume->scope = SCOPE_SHARED;
    for (uint32_t i = 0; i < from->mount_count; i++)
        if (add_string(a, &volume->mounts, &volume->mount_count, &volume->mount_capacity,
                       from->mounts[i]))
            return NULL;
    return volume;
}

/* Where a batch's jobs and volumes are among the totals; NO_INDEX: not looked for yet. Names are compared once a
   batch, not once a record. */
struct places {
    uint32_t *jobs, *volumes;
    const bool *serves; /* by process: it serves a file system; NULL: nobody knows of any */
    uint32_t job, from, at; /* the last record's: job among the totals, volume in the batch, and that among the job's */
};

/* The job's volume that a record is of. NULL without memory. */
static struct volume_total *volume_of_job(struct aggregate *a, struct places *places, uint32_t at,
                                          const struct batch *batch, const struct record *record)
{
    struct job_total *job = &a->jobs[at];
    struct volume_total *volume;

    if (places->job == at && places->from == record->volume)
        return &job->volumes[places->at];
    volume = aggregate_volume(a, &job->volumes, &job->volume_count, &job->volume_capacity,
                              &batch->volumes[record->volume]);
    if (!volume || add_string(a, &job->nodes, &job->node_count, &job->node_capacity, batch->node))
        return NULL;
    places->job = at;
    places->from = record->volume;
    places->at = (uint32_t)(volume - job->volumes);
    return volume;
}

/* Where what is known of a unit's process on all its volumes is. */
static struct manner *manner_of(struct aggregate *a, struct job_total *job, const struct unit *unit)
{
    return a->grouping == GROUP_VOLUME ? &a->actors[unit->actor].manner : &job->units[unit->process].manner;
}

static int add_job_record(struct aggregate *a, struct places *places, uint32_t at, const struct batch *batch,
                          const struct record *record, const struct demand_slot *slot, const struct demand_slot *busy)
{
    struct volume_total *volume = volume_of_job(a, places, at, batch, record);
    struct job_total *job = &a->jobs[at];
    struct unit *unit = NULL;
    int err;

    if (!volume)
        return -ENOMEM;
    if (record->process != NO_INDEX) {
        err = aggregate_unit(a, job, batch, record->process, volume->name, &unit);
        if (err)
            return err;
    }
    if (unit) {
        struct manner *manner = manner_of(a, job, unit);

        manner->serves |= places->serves && places->serves[record->process];
        aggregate_turn(manner, batch, record);
        if (operation_is_file(record->op))
            presence_add(&unit->presence[busy_of(record->op)], batch->start_ns, batch->duration_ns, record->latency_sum_ns);
        unit->first_ns = unit->last_ns ? MIN(unit->first_ns, batch->start_ns) : batch->start_ns;
        unit->interval_ns = MAX(unit->interval_ns, (int64_t)batch->duration_ns);
        unit->last_ns = MAX(unit->last_ns, batch->start_ns + (int64_t)batch->duration_ns);
    }
    if ((err = tally_add(unit ? &unit->tally : &volume->rest, record)) ||
        (err = aggregate_gauge(a, volume, batch, record)))
        return err;
    if (!unit && (err = concert_add(&volume->concert, batch, record)))
        return err;
    if (record->op == OP_OPEN)
        working_opened(&volume->working, batch, record, a->midway ? a->told_ns : INT64_MIN);
    if (!operation_is_file(record->op))
        return 0;
    if ((err = aggregate_demand(&job->series, batch, slot)) || (err = aggregate_demand(&volume->series, batch, slot)) ||
        (err = aggregate_demand(&volume->busy, batch, busy)) ||
        (err = kinds_add(&volume->kinds, &volume->busy, batch, record)))
        return err;
    windows_cover(&job->windows, batch->start_ns, batch->duration_ns);
    return 0;
}

/* The job that a record or a flow belongs to. */
static int job_of(struct aggregate *a, const struct batch *batch, const uint32_t *jobs, uint32_t job,
                  const struct volume *volume, uint32_t *out)
{
    *out = jobs[job];
    return *out != NO_INDEX ? 0 : aggregate_job(a, batch, &batch->jobs[job], volume, out);
}

static int add_to_volume(struct volume_total *volume, const struct watched *watched, int64_t start_ns,
                         const struct flow *flow)
{
    int err = working_add_flow(&volume->working, start_ns, flow);

    volume->looked = true;
    for (unsigned op = 0; op < OP_FILE_END; op++)
        if (flow->in_flight_max[op] > volume->in_flight_max[op])
            volume->in_flight_max[op] = flow->in_flight_max[op];
    return err ? err : windows_add(&volume->windows, watched, start_ns, flow);
}

static int add_flow(struct aggregate *a, const struct batch *batch, const uint32_t *jobs, const struct flow *flow)
{
    const struct volume *from = &batch->volumes[flow->volume];
    struct volume_total *volume = aggregate_volume(a, &a->volumes, &a->volume_count, &a->volume_capacity, from);
    struct job_total *job;
    uint32_t at;
    int err = volume ? job_of(a, batch, jobs, flow->job, from, &at) : -ENOMEM;

    if (err)
        return err;
    job = &a->jobs[at];
    if ((err = windows_spread(&volume->windows)) ||
        (volume->scope == SCOPE_SHARED &&
         ((err = windows_spread(&a->shared.windows)) ||
          (err = add_to_volume(&a->shared, &a->watched, batch->start_ns, flow)))) ||
        (err = add_to_volume(volume, &a->watched, batch->start_ns, flow)) ||
        (err = windows_add(&a->windows, &a->watched, batch->start_ns, flow)) ||
        (err = windows_add(&job->windows, &a->watched, batch->start_ns, flow)) ||
        (err = overlap_add(&a->overlap, batch->start_ns, at, flow)))
        return err;
    volume = aggregate_volume(a, &job->volumes, &job->volume_count, &job->volume_capacity, from);
    return volume ? add_to_volume(volume, &a->watched, batch->start_ns, flow) : -ENOMEM;
}

static int add_tree(struct aggregate *a, const struct batch *batch, const uint32_t *jobs, const struct tree *tree)
{
    const struct volume *from = &batch->volumes[tree->volume];
    struct volume_total *volume = aggregate_volume(a, &a->volumes, &a->volume_count, &a->volume_capacity, from);
    struct job_total *job;
    uint32_t at;
    int err = volume ? job_of(a, batch, jobs, tree->job, from, &at) : -ENOMEM;

    if (!err)
        err = forest_add(&volume->forest, batch->start_ns, tree);
    if (err)
        return err;
    a->has_trees = true;
    job = &a->jobs[at];
    volume = aggregate_volume(a, &job->volumes, &job->volume_count, &job->volume_capacity, from);
    return volume ? forest_add(&volume->forest, batch->start_ns, tree) : -ENOMEM;
}

/* The cluster's volume that a record is of. NULL without memory. */
static struct volume_total *volume_of(struct aggregate *a, const struct places *places, const struct batch *batch,
                                      const struct record *record)
{
    struct volume_total *volume;

    if (places->volumes[record->volume] != NO_INDEX)
        return &a->volumes[places->volumes[record->volume]];
    volume = aggregate_volume(a, &a->volumes, &a->volume_count, &a->volume_capacity, &batch->volumes[record->volume]);
    if (volume)
        places->volumes[record->volume] = (uint32_t)(volume - a->volumes);
    return volume;
}

static int add_record(struct aggregate *a, const struct batch *batch, struct places *places,
                      const struct record *record)
{
    uint64_t ops = record_ops(record);
    struct demand_slot slot = demand_of(record->op, ops, record->bytes);
    struct demand_slot busy = aggregate_busy(record->op, record->latency_sum_ns, ops);
    struct volume_total *volume = volume_of(a, places, batch, record);
    uint32_t job;
    int err;

    if (!volume)
        return -ENOMEM;
    err = operation_is_file(record->op) ? aggregate_demand(&a->series, batch, &slot) : 0;
    if (!err)
        err = aggregate_volume_demand(volume, batch, record, &slot, &busy);
    if (!err && volume->scope == SCOPE_SHARED)
        err = aggregate_volume_demand(&a->shared, batch, record, &slot, &busy);
    if (err)
        return err;
    err = job_of(a, batch, places->jobs, record->job, &batch->volumes[record->volume], &job);
    return err ? err : add_job_record(a, places, job, batch, record, &slot, &busy);
}

static int add_space(struct aggregate *a, const struct batch *batch, const struct volume *from)
{
    struct volume_total *volume;

    if (!from->has_space)
        return 0;
    volume = aggregate_volume(a, &a->volumes, &a->volume_count, &a->volume_capacity, from);
    return volume ? filling_add(&volume->filling, batch->start_ns, &from->space) : -ENOMEM;
}

static bool is_server(const struct process *process, const struct station *station)
{
    return process->job == station->job && process->command && strcmp(process->command, station->server) == 0;
}

/* Which of the processes serve a file system: a station knows its server by its job and its command. *serves is malloc'ed,
   or NULL where no station has one. 0 or -ENOMEM. */
static int note_servers(const struct batch *batch, bool **serves)
{
    for (uint32_t s = 0; s < batch->station_count; s++) {
        const struct station *station = &batch->stations[s];

        if (station->party != PARTY_SERVER || !station->server)
            continue;
        if (!*serves && !(*serves = calloc(batch->process_count + 1u, sizeof(**serves))))
            return -ENOMEM;
        for (uint32_t p = 0; p < batch->process_count; p++)
            (*serves)[p] |= is_server(&batch->processes[p], station);
    }
    return 0;
}

int aggregate_add(struct aggregate *a, const struct batch *batch)
{
    _cleanup_free_ uint32_t *jobs = calloc(batch->job_count + batch->volume_count + 1, sizeof(*jobs));
    _cleanup_free_ bool *serves = NULL;
    struct places places = {.jobs = jobs, .volumes = jobs + batch->job_count, .job = NO_INDEX};
    struct node_total *node = aggregate_node(a, batch);
    struct demand_slot nothing = {{0}};
    int err = 0;

    if (!jobs || !node || note_servers(batch, &serves))
        return -ENOMEM;
    places.serves = serves;
    memset(places.volumes, 0xff, batch->volume_count * sizeof(*places.volumes));
    a->midway |= node->last_ns == INT64_MIN && batch->seq > 1;
    if (aggregate_coverage(a, node, batch))
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->job_count; i++) {
        jobs[i] = NO_INDEX;
        if (a->grouping == GROUP_VOLUME)
            continue; /* the record decides */
        err = aggregate_job(a, batch, &batch->jobs[i], NULL, &jobs[i]);
        if (!err && a->grouping == GROUP_JOB)
            err = aggregate_attempt(a, &a->jobs[jobs[i]], batch->node, &batch->jobs[i]);
        if (err)
            return err;
        a->jobs[jobs[i]].watched_ns += batch->jobs[i].watched_ns;
        a->jobs[jobs[i]].exposed_ns += batch->jobs[i].exposed_ns;
        gpu_time_add(&a->jobs[jobs[i]].gpu, &batch->jobs[i].gpu);
    }
    /* an interval without I/O is part of the span, too */
    err = aggregate_demand(&a->series, batch, &nothing);
    windows_cover(&a->windows, batch->start_ns, batch->duration_ns);
    a->has_processes |= batch->process_count > 0;
    if (batch->flow_count && (!a->told_ns || batch->start_ns < a->told_ns))
        a->told_ns = batch->start_ns;
    for (uint32_t i = 0; !err && i < batch->record_count; i++)
        err = add_record(a, batch, &places, &batch->records[i]);
    for (uint32_t i = 0; !err && i < batch->flow_count; i++)
        err = add_flow(a, batch, jobs, &batch->flows[i]);
    for (uint32_t i = 0; !err && i < batch->tree_count; i++)
        err = add_tree(a, batch, jobs, &batch->trees[i]);
    if (!err)
        err = backends_add(&a->backends, &a->arena, batch);
    for (uint32_t i = 0; !err && i < batch->volume_count; i++)
        err = add_space(a, batch, &batch->volumes[i]);
    for (uint32_t i = 0; !err && i < batch->station_count; i++)
        err = aggregate_station(a, batch, &batch->stations[i]);
    return err;
}
