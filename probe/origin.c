/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/origin.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

struct user {
    uint32_t uid;
    char name[64];
};

struct origin {
    struct arena arena;
    struct job *jobs;
    bool *ended; /* its end has been reported */
    uint32_t job_count;
    struct user *users;
    uint32_t user_count;
    char unnamed[16];
};

int origin_new(struct origin **out)
{
    *out = calloc(1, sizeof(**out));
    return *out ? 0 : -ENOMEM;
}

void origin_free(struct origin *origin)
{
    if (!origin)
        return;
    arena_clear(&origin->arena);
    free(origin->jobs);
    free(origin->ended);
    free(origin->users);
    free(origin);
}

int origin_job(struct origin *origin, const struct job *job, uint32_t *id)
{
    struct job *grown = reallocarray(origin->jobs, origin->job_count + 1, sizeof(*grown));
    bool *ended = reallocarray(origin->ended, origin->job_count + 1, sizeof(*ended));
    struct job copy = *job;

    origin->jobs = grown ? grown : origin->jobs;
    origin->ended = ended ? ended : origin->ended;
    if (!grown || !ended)
        return -ENOMEM;
    copy.name = arena_strdup(&origin->arena, job->name);
    copy.kind = arena_strdup(&origin->arena, job->kind);
    copy.command = arena_strdup(&origin->arena, job->command);
    copy.user = job->user ? arena_strdup(&origin->arena, job->user) : NULL;
    copy.labels = NULL;
    copy.label_count = 0;
    if (!copy.name || !copy.kind || !copy.command || (job->user && !copy.user))
        return -ENOMEM;
    ended[origin->job_count] = false;
    grown[origin->job_count++] = copy;
    *id = origin->job_count;
    return 0;
}

struct job *origin_find(struct origin *origin, uint32_t id)
{
    return id && id <= origin->job_count ? &origin->jobs[id - 1] : NULL;
}

int origin_report(struct origin *origin, struct batch *batch)
{
    for (uint32_t i = 0; i < origin->job_count; i++) {
        uint32_t index;

        if (origin->ended[i])
            continue;
        if (batch_job(batch, &origin->jobs[i], &index))
            return -ENOMEM;
        origin->ended[i] = origin->jobs[i].end_ns != 0;
    }
    return 0;
}

const char *origin_user(struct origin *origin, uint32_t uid)
{
    struct user *grown;
    struct passwd entry, *found = NULL;
    char buffer[4096];

    for (uint32_t i = 0; i < origin->user_count; i++)
        if (origin->users[i].uid == uid)
            return origin->users[i].name;
    grown = reallocarray(origin->users, origin->user_count + 1, sizeof(*grown));
    if (!grown) {
        snprintf(origin->unnamed, sizeof(origin->unnamed), "%u", uid);
        return origin->unnamed;
    }
    origin->users = grown;
    grown += origin->user_count++;
    grown->uid = uid;
    if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
        snprintf(grown->name, sizeof(grown->name), "%s", found->pw_name);
    else
        snprintf(grown->name, sizeof(grown->name), "%u", uid);
    return grown->name;
}

int origin_name(struct origin *origin, uint32_t id, uint32_t uid, const char *command,
                struct batch *batch, uint32_t *index)
{
    const struct job *job = origin_find(origin, id);
    const char *user;
    char name[96];

    if (job)
        return batch_job(batch, job, index);
    user = origin_user(origin, uid);
    snprintf(name, sizeof(name), "%s/%s", user, command);
    return batch_job(batch,
                     &(struct job){.name = name,
                                   .kind = "command",
                                   .user = user,
                                   .command = command,
                                   .exit = -1},
                     index);
}
