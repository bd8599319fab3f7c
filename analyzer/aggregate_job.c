/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "analyzer/aggregate_private.h"

/* Slurm, Kubernetes and the user's own names mean the same job on every node; a unit or a command
 * does not. */
bool aggregate_is_local(const struct job *job)
{
    return strcmp(job->kind, "systemd") == 0 || strcmp(job->kind, "command") == 0 || strcmp(job->kind, "container") == 0;
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
        return a->grouping == GROUP_USER ? aggregate_fill(a, &total->user, job->user) : 0;
    if (aggregate_fill(a, &total->user, job->user) ||
        aggregate_fill(a, &total->command, job->command))
        return -ENOMEM;
    if (total->label_count || !job->label_count)
        return 0;
    total->labels = arena_alloc(&a->arena, job->label_count * sizeof(*total->labels));
    if (!total->labels)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->label_count; i++)
        if (aggregate_keep(a, &total->labels[i].name, job->labels[i].name) ||
            aggregate_keep(a, &total->labels[i].value, job->labels[i].value))
            return -ENOMEM;
    total->label_count = job->label_count;
    return 0;
}

int aggregate_job(struct aggregate *a, const struct batch *batch, const struct job *job, const struct volume *volume,
                  uint32_t *out)
{
    const char *name = group_name(a, batch, job, volume);
    const char *node = a->grouping == GROUP_JOB && aggregate_is_local(job) ? batch->node : NULL;
    uint32_t hash = lookup_hash(name, strlen(name)) ^ (node ? lookup_hash(node, strlen(node)) : 0), cursor = hash, at;
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
    if (aggregate_keep(a, &total->cluster, batch->cluster) ||
        aggregate_keep(a, &total->name, name) ||
        aggregate_keep(a, &total->kind, group_kind(a, job)) ||
        aggregate_keep(a, &total->node, node))
        return -ENOMEM;
    lookup_insert(&a->job_index, hash, a->job_count);
    *out = a->job_count++;
    return fill_job(a, total, job);
}

int aggregate_attempt(struct aggregate *a, struct job_total *job, const char *node, const struct job *from)
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
        if (aggregate_keep(a, &attempt->node, node))
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
