/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/aggregate.h"

#include <errno.h>
#include <string.h>

#include "analyzer/vector.h"
#include "lib/cleanup.h"

#define RESERVE(array, stem, size)                                                                 \
    vector_reserve((void **)&(array), &(stem##_capacity), (stem##_count), (size))

static int keep(struct aggregate *a, const char **field, const char *value)
{
    if (!value || (*field && **field && strcmp(*field, value) == 0))
        return 0;
    *field = *value ? arena_strdup(&a->arena, value) : "";
    return *field ? 0 : -ENOMEM;
}

/* Takes a value over where there is none yet. */
static int fill(struct aggregate *a, const char **field, const char *value)
{
    return *field && **field ? 0 : keep(a, field, value);
}

static int add_string(struct aggregate *a, const char ***list, uint32_t *count, uint32_t *capacity,
                      const char *value)
{
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp((*list)[i], value) == 0)
            return 0;
    if (vector_reserve((void **)list, capacity, *count, sizeof(**list)) ||
        keep(a, &(*list)[*count], value))
        return -ENOMEM;
    (*count)++;
    return 0;
}

static struct node_total *find_node(struct aggregate *a, const struct batch *batch)
{
    struct node_total *node;

    for (uint32_t i = 0; i < a->node_count; i++)
        if (strcmp(a->nodes[i].node, batch->node) == 0 &&
            strcmp(a->nodes[i].cluster, batch->cluster) == 0)
            return &a->nodes[i];
    if (RESERVE(a->nodes, a->node, sizeof(*node)))
        return NULL;
    node = &a->nodes[a->node_count];
    if (keep(a, &node->cluster, batch->cluster) || keep(a, &node->node, batch->node))
        return NULL;
    node->last_ns = INT64_MIN;
    a->node_count++;
    return node;
}

static struct volume_total *find_volume(struct aggregate *a, struct volume_total **volumes,
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
        if (keep(a, &volume->name, from->name))
            return NULL;
        (*count)++;
    }
    if (fill(a, &volume->source, from->source) || fill(a, &volume->fstype, from->fstype))
        return NULL;
    if (from->scope == SCOPE_SHARED)
        volume->scope = SCOPE_SHARED;
    for (uint32_t i = 0; i < from->mount_count; i++)
        if (add_string(a, &volume->mounts, &volume->mount_count, &volume->mount_capacity,
                       from->mounts[i]))
            return NULL;
    return volume;
}

/* Slurm, Kubernetes and the user's own names mean the same job on every node; a unit or a command
 * does not. */
static bool is_local(const struct aggregate *a, const struct job *job)
{
    return a->grouping == GROUP_JOB &&
           (strcmp(job->kind, "systemd") == 0 || strcmp(job->kind, "command") == 0 ||
            strcmp(job->kind, "container") == 0);
}

static const char *group_name(const struct aggregate *a, const struct batch *batch,
                              const struct job *job, const struct volume *volume)
{
    switch (a->grouping) {
    case GROUP_USER:
        return job->user ? job->user : "?";
    case GROUP_NODE:
        return batch->node;
    case GROUP_VOLUME:
        return volume ? volume->name : NULL;
    case GROUP_LABEL:
        for (uint32_t i = 0; i < job->label_count; i++)
            if (strcmp(job->labels[i].name, a->label) == 0)
                return job->labels[i].value;
        return "?";
    case GROUP_JOB:
        break;
    }
    return job->name;
}

static const char *group_kind(const struct aggregate *a, const struct job *job)
{
    static const char *const names[] = {
        [GROUP_USER] = "user", [GROUP_NODE] = "node", [GROUP_VOLUME] = "volume"};

    return a->grouping == GROUP_JOB     ? job->kind
           : a->grouping == GROUP_LABEL ? a->label
                                        : names[a->grouping];
}

static int fill_job(struct aggregate *a, struct job_total *total, const struct job *job)
{
    if (a->grouping != GROUP_JOB)
        return a->grouping == GROUP_USER ? fill(a, &total->user, job->user) : 0;
    if (fill(a, &total->user, job->user) || fill(a, &total->command, job->command))
        return -ENOMEM;
    if (total->label_count || !job->label_count)
        return 0;
    total->labels = arena_alloc(&a->arena, job->label_count * sizeof(*total->labels));
    if (!total->labels)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->label_count; i++)
        if (keep(a, &total->labels[i].name, job->labels[i].name) ||
            keep(a, &total->labels[i].value, job->labels[i].value))
            return -ENOMEM;
    total->label_count = job->label_count;
    return 0;
}

static int find_job(struct aggregate *a, const struct batch *batch, const struct job *job,
                    const struct volume *volume, uint32_t *out)
{
    const char *name = group_name(a, batch, job, volume);
    const char *node = is_local(a, job) ? batch->node : NULL;
    uint32_t hash = lookup_hash(name, strlen(name)), cursor = hash, at;
    struct job_total *total;

    while (lookup_next(&a->job_index, hash, &cursor, &at)) {
        total = &a->jobs[at];
        if (strcmp(total->name, name) == 0 && strcmp(total->cluster, batch->cluster) == 0 &&
            !node == !total->node && (!node || strcmp(node, total->node) == 0)) {
            *out = at;
            return fill_job(a, total, job);
        }
    }
    if (RESERVE(a->jobs, a->job, sizeof(*total)) || lookup_reserve(&a->job_index))
        return -ENOMEM;
    total = &a->jobs[a->job_count];
    total->command = "";
    if (keep(a, &total->cluster, batch->cluster) || keep(a, &total->name, name) ||
        keep(a, &total->kind, group_kind(a, job)) || keep(a, &total->node, node))
        return -ENOMEM;
    lookup_insert(&a->job_index, hash, a->job_count);
    *out = a->job_count++;
    return fill_job(a, total, job);
}

static int add_attempt(struct aggregate *a, struct job_total *job, const char *node,
                       const struct job *from)
{
    struct attempt *attempt = NULL;

    for (uint32_t i = 0; !attempt && i < job->attempt_count; i++)
        if (strcmp(job->attempts[i].node, node) == 0 &&
            (job->attempts[i].start_ns == from->start_ns || !job->attempts[i].start_ns ||
             !from->start_ns))
            attempt = &job->attempts[i];
    if (!attempt) {
        if (RESERVE(job->attempts, job->attempt, sizeof(*attempt)))
            return -ENOMEM;
        attempt = &job->attempts[job->attempt_count];
        attempt->exit = -1;
        if (keep(a, &attempt->node, node))
            return -ENOMEM;
        job->attempt_count++;
    }
    if (from->start_ns)
        attempt->start_ns = from->start_ns;
    if (from->end_ns)
        attempt->end_ns = from->end_ns;
    if (from->exit >= 0)
        attempt->exit = from->exit;
    return 0;
}

/* The tally that a record's process has to itself. */
static int find_unit(struct aggregate *a, struct job_total *job, const struct batch *batch,
                     uint32_t process, struct tally **out)
{
    const struct process *from = &batch->processes[process];
    const int64_t key[2] = {from->pid, from->start_ns};
    uint32_t hash = lookup_hash(key, sizeof(key)), cursor = hash, at;
    struct unit *unit;

    while (lookup_next(&job->unit_index, hash, &cursor, &at)) {
        unit = &job->units[at];
        if (unit->pid == from->pid && unit->start_ns == from->start_ns &&
            strcmp(unit->node, batch->node) == 0) {
            *out = &unit->tally;
            return keep(a, &unit->command, from->command);
        }
    }
    if (job->unit_count == AGGREGATE_UNITS_MAX) {
        *out = &job->rest;
        return 0;
    }
    if (RESERVE(job->units, job->unit, sizeof(*unit)) || lookup_reserve(&job->unit_index))
        return -ENOMEM;
    unit = &job->units[job->unit_count];
    unit->pid = from->pid;
    unit->start_ns = from->start_ns;
    if (keep(a, &unit->node, batch->node) || keep(a, &unit->command, from->command))
        return -ENOMEM;
    lookup_insert(&job->unit_index, hash, job->unit_count++);
    *out = &unit->tally;
    return 0;
}

static struct series_slot demand_of(const struct record *record)
{
    struct series_slot slot = {{0}};
    uint64_t ops = record_ops(record);

    switch (operation_info(record->op)->class) {
    case OP_CLASS_DATA:
    case OP_CLASS_BLOCK:
        if (record->op == OP_READ || record->op == OP_BLOCK_READ) {
            slot.demand[DEMAND_READ_BYTES] = record->bytes;
            slot.demand[DEMAND_READ_OPS] = ops;
        } else if (record->op == OP_WRITE || record->op == OP_BLOCK_WRITE) {
            slot.demand[DEMAND_WRITE_BYTES] = record->bytes;
            slot.demand[DEMAND_WRITE_OPS] = ops;
        }
        break;
    case OP_CLASS_METADATA:
        slot.demand[DEMAND_METADATA_OPS] = ops;
        break;
    default:
        break;
    }
    return slot;
}

static int add_demand(struct series *series, const struct batch *batch,
                      const struct series_slot *slot)
{
    return series_add(series, batch->start_ns, batch->duration_ns, batch->interval_ms, slot);
}

static int add_job_record(struct aggregate *a, struct job_total *job, const struct batch *batch,
                          const struct record *record, const struct series_slot *slot)
{
    struct volume_total *volume =
        find_volume(a, &job->volumes, &job->volume_count, &job->volume_capacity,
                    &batch->volumes[record->volume]);
    struct tally *unit = &job->rest;
    int err;

    if (!volume || add_string(a, &job->nodes, &job->node_count, &job->node_capacity, batch->node))
        return -ENOMEM;
    if (record->process != NO_INDEX) {
        err = find_unit(a, job, batch, record->process, &unit);
        if (err)
            return err;
    }
    if ((err = tally_add(unit, record)) || (err = tally_add(&job->tally, record)) ||
        (err = tally_add(&volume->tally, record)))
        return err;
    if (!operation_is_file(record->op))
        return 0;
    if ((err = add_demand(&job->series, batch, slot)) ||
        (err = add_demand(&volume->series, batch, slot)))
        return err;
    if (operation_info(record->op)->class != OP_CLASS_DATA)
        return 0;
    return pace_add(&job->pace,
                    series_slot_of(batch->start_ns, batch->duration_ns, batch->interval_ms),
                    batch->interval_ms, record->bytes, &record->latency_ns);
}

static int add_record(struct aggregate *a, const struct batch *batch, const uint32_t *jobs,
                      const struct record *record)
{
    const struct volume *from = &batch->volumes[record->volume];
    struct series_slot slot = demand_of(record);
    struct volume_total *volume;
    uint32_t job;
    int err;

    volume = find_volume(a, &a->volumes, &a->volume_count, &a->volume_capacity, from);
    if (!volume)
        return -ENOMEM;
    if ((err = tally_add(&a->tally, record)) || (err = tally_add(&volume->tally, record)))
        return err;
    if (operation_is_file(record->op)) {
        err = add_demand(&a->series, batch, &slot);
        if (!err)
            err = add_demand(&volume->series, batch, &slot);
    } else {
        err = add_demand(&volume->reached, batch, &slot);
    }
    if (err)
        return err;
    job = jobs[record->job];
    if (job == NO_INDEX) {
        err = find_job(a, batch, &batch->jobs[record->job], from, &job);
        if (err)
            return err;
    }
    return add_job_record(a, &a->jobs[job], batch, record, &slot);
}

static int add_hooks(struct aggregate *a, const struct coverage *coverage)
{
    for (uint32_t i = 0; i < coverage->hook_count; i++) {
        const struct hook *from = &coverage->hooks[i];
        struct hook_total *hook = NULL;

        for (uint32_t k = 0; !hook && k < a->hook_count; k++)
            if (strcmp(a->hooks[k].name, from->name) == 0)
                hook = &a->hooks[k];
        if (!hook) {
            if (RESERVE(a->hooks, a->hook, sizeof(*hook)))
                return -ENOMEM;
            hook = &a->hooks[a->hook_count];
            if (keep(a, &hook->name, from->name))
                return -ENOMEM;
            a->hook_count++;
        }
        if (!from->attached && fill(a, &hook->why, from->why ? from->why : "not attached"))
            return -ENOMEM;
    }
    return 0;
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
        if (keep(a, &bypass->what, from->what) || keep(a, &bypass->device, from->device) ||
            keep(a, &bypass->why, from->why))
            return -ENOMEM;
        a->bypass_count++;
    }
    return 0;
}

static int add_coverage(struct aggregate *a, struct node_total *node, const struct batch *batch)
{
    int64_t end = batch->start_ns + (int64_t)batch->duration_ns;

    a->lost += batch->coverage.lost;
    a->killed += batch->coverage.killed;
    a->unattributed += batch->coverage.unattributed;
    a->overflow += batch->coverage.overflow;
    if (end >= node->last_ns) {
        node->last_ns = end;
        node->in_flight = batch->coverage.in_flight;
        if (keep(a, &node->role, batch->role) || keep(a, &node->kernel, batch->kernel))
            return -ENOMEM;
    }
    if (!a->batches++ || batch->start_ns < a->start_ns)
        a->start_ns = batch->start_ns;
    if (end > a->end_ns)
        a->end_ns = end;
    if (batch->interval_ms > a->interval_ms)
        a->interval_ms = batch->interval_ms;
    return add_hooks(a, &batch->coverage) ? -ENOMEM : add_bypasses(a, &batch->coverage);
}

int aggregate_add(struct aggregate *a, const struct batch *batch)
{
    _cleanup_free_ uint32_t *jobs = calloc(batch->job_count + 1, sizeof(*jobs));
    struct node_total *node = find_node(a, batch);
    struct series_slot nothing = {{0}};
    int err = 0;

    if (!jobs || !node || add_coverage(a, node, batch))
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->job_count; i++) {
        jobs[i] = NO_INDEX;
        if (a->grouping == GROUP_VOLUME)
            continue; /* the record decides */
        err = find_job(a, batch, &batch->jobs[i], NULL, &jobs[i]);
        if (!err && a->grouping == GROUP_JOB)
            err = add_attempt(a, &a->jobs[jobs[i]], batch->node, &batch->jobs[i]);
        if (err)
            return err;
    }
    /* an interval without I/O is part of the span, too */
    err = add_demand(&a->series, batch, &nothing);
    for (uint32_t i = 0; !err && i < batch->record_count; i++)
        err = add_record(a, batch, jobs, &batch->records[i]);
    return err;
}

static int by_node(const void *a, const void *b)
{
    const struct node_total *x = a, *y = b;
    int order = strcmp(x->cluster, y->cluster);

    return order ? order : strcmp(x->node, y->node);
}

static int by_volume(const void *a, const void *b)
{
    return strcmp(((const struct volume_total *)a)->name, ((const struct volume_total *)b)->name);
}

static int by_string(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_attempt(const void *a, const void *b)
{
    const struct attempt *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return strcmp(x->node, y->node);
}

static int by_job(const void *a, const void *b)
{
    const struct job_total *x = a, *y = b;
    uint64_t p = tally_file_bytes(&x->tally), q = tally_file_bytes(&y->tally);
    int order;

    if (p == q) {
        p = tally_file_ops(&x->tally);
        q = tally_file_ops(&y->tally);
    }
    if (p != q)
        return p > q ? -1 : 1;
    order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->node ? x->node : "", y->node ? y->node : "");
}

static int by_hook(const void *a, const void *b)
{
    return strcmp(((const struct hook_total *)a)->name, ((const struct hook_total *)b)->name);
}

static void sort(void *array, size_t count, size_t size, int (*order)(const void *, const void *))
{
    if (count)
        qsort(array, count, size, order);
}

static void clear_job(struct job_total *job);

/* Jobs that did no I/O are known to some origins and not to others: none of them is shown. */
static void drop_idle(struct aggregate *a)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < a->job_count; i++)
        if (a->jobs[i].volume_count)
            a->jobs[kept++] = a->jobs[i];
        else
            clear_job(&a->jobs[i]);
    a->job_count = kept;
}

void aggregate_sort(struct aggregate *a)
{
    drop_idle(a);
    for (uint32_t i = 0; i < a->job_count; i++) {
        struct job_total *job = &a->jobs[i];

        sort(job->volumes, job->volume_count, sizeof(*job->volumes), by_volume);
        sort(job->nodes, job->node_count, sizeof(*job->nodes), by_string);
        sort(job->attempts, job->attempt_count, sizeof(*job->attempts), by_attempt);
        for (uint32_t v = 0; v < job->volume_count; v++)
            sort(job->volumes[v].mounts, job->volumes[v].mount_count, sizeof(char *), by_string);
    }
    sort(a->nodes, a->node_count, sizeof(*a->nodes), by_node);
    sort(a->volumes, a->volume_count, sizeof(*a->volumes), by_volume);
    sort(a->hooks, a->hook_count, sizeof(*a->hooks), by_hook);
    sort(a->jobs, a->job_count, sizeof(*a->jobs), by_job);
    lookup_clear(&a->job_index); /* its positions are stale now */
}

static void clear_volumes(struct volume_total *volumes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tally_clear(&volumes[i].tally);
        series_clear(&volumes[i].series);
        series_clear(&volumes[i].reached);
        free(volumes[i].mounts);
    }
    free(volumes);
}

static void clear_job(struct job_total *job)
{
    clear_volumes(job->volumes, job->volume_count);
    for (uint32_t i = 0; i < job->unit_count; i++)
        tally_clear(&job->units[i].tally);
    lookup_clear(&job->unit_index);
    tally_clear(&job->tally);
    tally_clear(&job->rest);
    series_clear(&job->series);
    pace_clear(&job->pace);
    free(job->units);
    free(job->nodes);
    free(job->attempts);
}

void aggregate_clear(struct aggregate *a)
{
    for (uint32_t i = 0; i < a->job_count; i++)
        clear_job(&a->jobs[i]);
    clear_volumes(a->volumes, a->volume_count);
    tally_clear(&a->tally);
    series_clear(&a->series);
    lookup_clear(&a->job_index);
    free(a->jobs);
    free(a->nodes);
    free(a->hooks);
    free(a->bypasses);
    arena_clear(&a->arena);
    *a = (struct aggregate){0};
}
