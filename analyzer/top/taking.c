/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/taking.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define NAME_SAMPLES 10 /* between two looks at a thread's name */

void taking_list(const struct model *model, struct entity *entity)
{
    if (entity->listed != model->sample)
        entity->now = (struct amounts)NO_AMOUNTS;
    entity->listed = model->sample;
    entity->figure[FIGURE_QUEUE_P99] = entity->figure[FIGURE_SERVICE_P99] = NAN;
}

/* Looking a name up costs a file or a directory server: the last one is kept, as processes come in groups. */
static const char *user_name(struct model *model, uint32_t uid)
{
    static uint32_t last_uid = UINT32_MAX;
    static char last[32];

    if (uid != last_uid) {
        const struct passwd *passwd = getpwuid(uid);

        snprintf(last, sizeof(last), "%u", uid);
        if (passwd)
            snprintf(last, sizeof(last), "%s", passwd->pw_name);
        last_uid = uid;
    }
    return model_text(model, last);
}

/* Names change: a process by execve, a job when its user gets known. */
int taking_jobs(struct taking *t)
{
    struct model *model = t->model;

    for (uint32_t i = 0; i < t->batch->job_count; i++) {
        const struct job *job = &t->batch->jobs[i];
        const struct entity like = {.kind = ENTITY_JOB, .name = job->name, .volume = ""};
        struct entity *e = t->jobs[i] = model_entity(model, &like);

        if (!e)
            return -ENOMEM;
        taking_list(model, e);
        e->exited = job->end_ns != 0;
        e->user = model_text(model, job->user);
        e->job = e->name;
        e->source = model_text(model, job->command);
        e->state = model_text(model, job->kind);
        if (!e->user || !e->source || !e->state)
            return -ENOMEM;
    }
    return 0;
}

/* Threads have names of their own, which no record has; they may come late, and change. */
static int name_thread(struct model *model, struct entity *e)
{
    char path[64], name[32] = "";
    _cleanup_close_ int fd = -1;
    ssize_t got = -1;

    if (!model->local || !e->tid || (model->sample - e->first) % NAME_SAMPLES)
        return 0;
    snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", e->pid, e->tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        got = read(fd, name, sizeof(name) - 1);
    if (got <= 1)
        return 0; /* it has ended */
    name[got - 1] = '\0'; /* a line */
    e->name = model_text(model, name);
    return e->name ? 0 : -ENOMEM;
}

/* A process, or the thread that a batch by thread has in its place. NULL without memory. */
static struct entity *take_who(struct taking *t, enum entity_kind kind, const struct process *process)
{
    struct model *model = t->model;
    const struct entity like = {.kind = kind, .name = process->command, .volume = "", .pid = process->pid,
                                .tid = kind == ENTITY_THREAD ? process->tid : 0, .start_ns = process->start_ns};
    struct entity *e = model_entity(model, &like);

    if (!e)
        return NULL;
    taking_list(model, e);
    if (!*e->user || e->uid != process->uid)
        e->user = user_name(model, process->uid);
    e->uid = process->uid;
    e->exited = process->exited;
    e->job = t->jobs[process->job]->name;
    if (kind == ENTITY_PROCESS && strcmp(e->name, process->command) != 0)
        e->name = model_text(model, process->command);
    return e->user && e->name && !name_thread(model, e) ? e : NULL;
}

int taking_processes(struct taking *t)
{
    for (uint32_t i = 0; i < t->batch->process_count; i++)
        t->by_thread |= t->batch->processes[i].tid != 0;
    for (uint32_t i = 0; i < t->batch->process_count; i++) {
        const struct process *process = &t->batch->processes[i];

        t->processes[i] = take_who(t, ENTITY_PROCESS, process);
        if (t->by_thread)
            t->threads[i] = take_who(t, ENTITY_THREAD, process);
        if (!t->processes[i] || (t->by_thread && !t->threads[i]))
            return -ENOMEM;
    }
    return 0;
}

int taking_volumes(struct taking *t)
{
    for (uint32_t i = 0; i < t->batch->volume_count; i++) {
        const struct volume *volume = &t->batch->volumes[i];
        bool device = strcmp(volume->fstype, "block") == 0;
        const struct entity like = {.kind = device ? ENTITY_DEVICE : ENTITY_VOLUME, .name = volume->name, .volume = ""};
        struct entity *e;

        t->counts[i] = filter_volume(t->model->filter, volume);
        if (!t->counts[i])
            continue;
        e = t->volumes[i] = model_entity(t->model, &like);
        if (!e)
            return -ENOMEM;
        taking_list(t->model, e);
        e->fstype = model_text(t->model, volume->fstype);
        e->source = model_text(t->model, volume->source);
        e->mounts = model_text(t->model, volume->mount_count ? volume->mounts[0] : "");
        e->state = model_text(t->model, volume->scope == SCOPE_SHARED ? "shared" : "local");
        if (!e->fstype || !e->source || !e->mounts || !e->state)
            return -ENOMEM;
    }
    return 0;
}

/* What a job did outside of known processes is a row of its own among them. */
static struct entity *rest_of(struct taking *t, enum entity_kind kind, uint32_t job)
{
    const struct entity like = {.kind = kind, .name = t->batch->jobs[job].name, .volume = ""};
    struct entity **rest = &t->rests[kind == ENTITY_THREAD][job], *e = *rest;

    if (e)
        return e;
    e = *rest = model_entity(t->model, &like);
    if (!e)
        return NULL;
    taking_list(t->model, e);
    e->job = t->jobs[job]->name;
    e->user = t->jobs[job]->user;
    e->name = e->job;
    return e;
}

struct entity *taking_owner(struct taking *t, enum entity_kind kind, const struct record *record)
{
    switch (kind) {
    case ENTITY_PROCESS:
    case ENTITY_THREAD:
        if (record->process == NO_INDEX)
            return rest_of(t, kind, record->job);
        return (kind == ENTITY_THREAD ? t->threads : t->processes)[record->process];
    case ENTITY_JOB:
        return t->jobs[record->job];
    default:
        return t->volumes[record->volume];
    }
}
