/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/record_private.h"

#include <errno.h>
#include <string.h>

#include "lib/utf8.h"

/* Who did something, and where: the jobs, volumes and processes that records point to. */

/* Takes a string over where the old one says nothing. */
static int fill(struct batch *batch, const char **field, const char *value)
{
    return value && *value && !(*field && **field) ? batch_set(batch, field, value) : 0;
}

static int fill_labels(struct batch *batch, struct job *job, const struct job *from)
{
    struct label *labels;

    if (job->label_count || !from->label_count)
        return 0;
    labels = arena_alloc(&batch->arena, from->label_count * sizeof(*labels));
    if (!labels)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->label_count; i++)
        if (batch_set(batch, &labels[i].name, from->labels[i].name) ||
            batch_set(batch, &labels[i].value, from->labels[i].value))
            return -ENOMEM;
    job->labels = labels;
    job->label_count = from->label_count;
    return 0;
}

static int find_job(struct batch *batch, const char *name, uint32_t *out)
{
    uint32_t hash, cursor, at;
    struct job job = {.kind = "", .command = "", .exit = -1};

    if (!utf8_valid(name)) {
        name = batch_copy_text(batch, name);
        if (!name)
            return -ENOMEM;
    }
    cursor = hash = lookup_hash(name, strlen(name));
    while (lookup_next(&batch->index->jobs, hash, &cursor, &at))
        if (strcmp(batch->jobs[at].name, name) == 0) {
            *out = at;
            return 0;
        }
    if (batch_set(batch, &job.name, name) ||
        batch_make_room((void **)&batch->jobs, &batch->index->job_capacity, batch->job_count, sizeof(job),
                        &batch->index->jobs))
        return -ENOMEM;
    batch->jobs[batch->job_count] = job;
    lookup_insert(&batch->index->jobs, hash, batch->job_count);
    *out = batch->job_count++;
    return 0;
}

int batch_job(struct batch *batch, const struct job *from, uint32_t *out)
{
    struct job *job;
    uint32_t at;
    int err = find_job(batch, from->name, &at);

    if (err)
        return err;
    job = &batch->jobs[at];
    if (fill(batch, &job->kind, from->kind) || fill(batch, &job->user, from->user) ||
        fill(batch, &job->command, from->command) || fill_labels(batch, job, from))
        return -ENOMEM;
    if (from->start_ns && (!job->start_ns || from->start_ns < job->start_ns))
        job->start_ns = from->start_ns;
    if (from->end_ns)
        job->end_ns = from->end_ns;
    if (from->exit >= 0)
        job->exit = from->exit;
    *out = at;
    return 0;
}

static int find_volume(struct batch *batch, const char *name, uint32_t *out)
{
    uint32_t hash, cursor, at;
    struct volume volume = {.source = "", .fstype = ""};

    if (!utf8_valid(name)) {
        name = batch_copy_text(batch, name);
        if (!name)
            return -ENOMEM;
    }
    cursor = hash = lookup_hash(name, strlen(name));
    while (lookup_next(&batch->index->volumes, hash, &cursor, &at))
        if (strcmp(batch->volumes[at].name, name) == 0) {
            *out = at;
            return 0;
        }
    if (batch_set(batch, &volume.name, name) ||
        batch_make_room((void **)&batch->volumes, &batch->index->volume_capacity, batch->volume_count,
                        sizeof(volume), &batch->index->volumes))
        return -ENOMEM;
    batch->volumes[batch->volume_count] = volume;
    lookup_insert(&batch->index->volumes, hash, batch->volume_count);
    *out = batch->volume_count++;
    return 0;
}

int batch_volume(struct batch *batch, const struct volume *from, uint32_t *out)
{
    struct volume *volume;
    uint32_t at;
    int err = find_volume(batch, from->name, &at);

    if (err)
        return err;
    volume = &batch->volumes[at];
    if (fill(batch, &volume->source, from->source) || fill(batch, &volume->fstype, from->fstype) ||
        fill(batch, &volume->lower, from->lower))
        return -ENOMEM;
    if (from->scope == SCOPE_SHARED)
        volume->scope = SCOPE_SHARED;
    if (from->has_space) {
        volume->has_space = true;
        volume->space = from->space;
    }
    if (!volume->mount_count && from->mount_count) {
        const char **mounts = arena_alloc(&batch->arena, from->mount_count * sizeof(*mounts));

        if (!mounts)
            return -ENOMEM;
        for (uint32_t i = 0; i < from->mount_count; i++)
            if (batch_set(batch, &mounts[i], from->mounts[i]))
                return -ENOMEM;
        volume->mounts = mounts;
        volume->mount_count = from->mount_count;
    }
    *out = at;
    return 0;
}

int batch_process(struct batch *batch, const struct process *from, uint32_t *out)
{
    const int64_t key[3] = {from->pid, from->tid, from->start_ns};
    uint32_t hash = lookup_hash(key, sizeof(key)), cursor = hash, at;
    struct process *process = NULL;

    if (from->job >= batch->job_count)
        return -EINVAL;
    while (!process && lookup_next(&batch->index->processes, hash, &cursor, &at))
        if (batch->processes[at].pid == from->pid && batch->processes[at].tid == from->tid &&
            batch->processes[at].start_ns == from->start_ns)
            process = &batch->processes[at];
    if (!process) {
        if (batch_make_room((void **)&batch->processes, &batch->index->process_capacity,
                            batch->process_count, sizeof(*process), &batch->index->processes))
            return -ENOMEM;
        at = batch->process_count++;
        process = &batch->processes[at];
        *process = *from;
        process->command = "";
        lookup_insert(&batch->index->processes, hash, at);
    }
    process->job = from->job;
    process->exited |= from->exited;
    if (from->command && *from->command && batch_set(batch, &process->command, from->command))
        return -ENOMEM;
    *out = at;
    return 0;
}
