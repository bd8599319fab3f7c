/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/origin.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/lookup.h"
#include "probe/bpf/ownerabi.h"

struct user {
    uint32_t uid;
    char name[64];
};

/* Owns its strings: jobs that were found come and go while the node is up. */
struct entry {
    struct job job;
    char *identity; /* of one that was found; NULL */
    bool ended;     /* its end has been reported */
    int64_t used_ns;
};

struct origin {
    struct entry **entries; /* by id - 1; NULL for those that are forgotten */
    uint32_t count, capacity;
    struct lookup index; /* of those found, by identity */
    struct user *users;
    uint32_t user_count;
    char unnamed[16];
};

int origin_new(struct origin **out)
{
    *out = calloc(1, sizeof(**out));
    return *out ? 0 : -ENOMEM;
}

static void entry_free(struct entry *entry)
{
    if (!entry)
        return;
    for (uint32_t i = 0; i < entry->job.label_count; i++) {
        free((char *)entry->job.labels[i].name);
        free((char *)entry->job.labels[i].value);
    }
    free((struct label *)entry->job.labels);
    free((char *)entry->job.name);
    free((char *)entry->job.kind);
    free((char *)entry->job.user);
    free((char *)entry->job.command);
    free(entry->identity);
    free(entry);
}

void origin_free(struct origin *origin)
{
    if (!origin)
        return;
    for (uint32_t i = 0; i < origin->count; i++)
        entry_free(origin->entries[i]);
    free(origin->entries);
    lookup_clear(&origin->index);
    free(origin->users);
    free(origin);
}

static bool has_label(const struct job *job, const char *name)
{
    for (uint32_t i = 0; i < job->label_count; i++)
        if (strcmp(job->labels[i].name, name) == 0)
            return true;
    return false;
}

static int add_labels(struct job *job, const struct label *labels, uint32_t count)
{
    struct label *grown;

    if (!count)
        return 0;
    grown = reallocarray((struct label *)job->labels, job->label_count + count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    job->labels = grown;
    for (uint32_t i = 0; i < count; i++) {
        struct label label;

        if (has_label(job, labels[i].name))
            continue;
        label = (struct label){strdup(labels[i].name), strdup(labels[i].value)};
        if (!label.name || !label.value) {
            free((char *)label.name);
            free((char *)label.value);
            return -ENOMEM;
        }
        grown[job->label_count++] = label;
    }
    return 0;
}

static struct entry *entry_new(const char *identity, const struct job *job)
{
    struct entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return NULL;
    entry->job = *job;
    entry->job.labels = NULL;
    entry->job.label_count = 0;
    entry->job.name = strdup(job->name);
    entry->job.kind = strdup(job->kind);
    entry->job.command = strdup(job->command);
    entry->job.user = job->user ? strdup(job->user) : NULL;
    entry->identity = identity ? strdup(identity) : NULL;
    entry->used_ns = monotonic_ns();
    if (!entry->job.name || !entry->job.kind || !entry->job.command || (job->user && !entry->job.user) ||
        (identity && !entry->identity) || add_labels(&entry->job, job->labels, job->label_count)) {
        entry_free(entry);
        return NULL;
    }
    return entry;
}

static int add_entry(struct origin *origin, const char *identity, const struct job *job, uint32_t *id)
{
    struct entry *entry;

    if (origin->count == origin->capacity) {
        uint32_t wanted = origin->capacity ? origin->capacity * 2 : 8;
        struct entry **grown = reallocarray(origin->entries, wanted, sizeof(struct entry *));

        if (!grown)
            return -ENOMEM;
        origin->entries = grown;
        origin->capacity = wanted;
    }
    if (identity && lookup_reserve(&origin->index))
        return -ENOMEM;
    entry = entry_new(identity, job);
    if (!entry)
        return -ENOMEM;
    if (identity)
        lookup_insert(&origin->index, lookup_hash(identity, strlen(identity)), origin->count);
    origin->entries[origin->count++] = entry;
    *id = origin->count;
    return 0;
}

int origin_job(struct origin *origin, const struct job *job, uint32_t *id)
{
    return add_entry(origin, NULL, job, id);
}

int origin_found(struct origin *origin, const char *identity, const struct job *job, uint32_t *id)
{
    uint32_t plain;
    int err = add_entry(origin, identity, job, &plain);

    if (!err)
        *id = plain | ABI_JOB_FOUND;
    return err;
}

uint32_t origin_seek(struct origin *origin, const char *identity)
{
    uint32_t hash = lookup_hash(identity, strlen(identity)), cursor = hash, at;

    while (lookup_next(&origin->index, hash, &cursor, &at))
        if (origin->entries[at] && strcmp(origin->entries[at]->identity, identity) == 0)
            return (at + 1) | ABI_JOB_FOUND;
    return 0;
}

static struct entry *find_entry(struct origin *origin, uint32_t id)
{
    id &= ~ABI_JOB_FOUND;
    return id && id <= origin->count ? origin->entries[id - 1] : NULL;
}

struct job *origin_find(struct origin *origin, uint32_t id)
{
    struct entry *entry = find_entry(origin, id);

    return entry ? &entry->job : NULL;
}

/* Takes a text over where there is none yet. */
static int fill(const char **field, const char *value)
{
    char *copy;

    if (!value || !*value || (*field && **field))
        return 0;
    copy = strdup(value);
    if (!copy)
        return -ENOMEM;
    free((char *)*field);
    *field = copy;
    return 0;
}

int origin_fill(struct origin *origin, uint32_t id, const struct job *more)
{
    struct job *job = origin_find(origin, id);

    if (!job)
        return 0;
    if (fill(&job->user, more->user) || fill(&job->command, more->command))
        return -ENOMEM;
    return add_labels(job, more->labels, more->label_count);
}

void origin_use(struct origin *origin, uint32_t id, int64_t now_ns)
{
    struct entry *entry = find_entry(origin, id);

    if (entry)
        entry->used_ns = now_ns;
}

static void forget_entry(struct origin *origin, uint32_t at)
{
    entry_free(origin->entries[at]);
    origin->entries[at] = NULL;
}

/* Ids are not used again: what the kernel side still has under one must not become another job's. */
int origin_forget(struct origin *origin, int64_t before_ns)
{
    int err = 0;

    lookup_clear(&origin->index);
    for (uint32_t i = 0; i < origin->count; i++) {
        struct entry *entry = origin->entries[i];

        if (!entry)
            continue;
        if (!entry->identity) { /* one that was given cannot be found again, so it has to be over */
            if (entry->ended && entry->used_ns < before_ns)
                forget_entry(origin, i);
            continue;
        }
        if (entry->used_ns >= before_ns && !err)
            err = lookup_reserve(&origin->index);
        if (entry->used_ns < before_ns || err)
            forget_entry(origin, i);
        else
            lookup_insert(&origin->index, lookup_hash(entry->identity, strlen(entry->identity)), i);
    }
    return err;
}

int origin_report(struct origin *origin, struct batch *batch)
{
    for (uint32_t i = 0; i < origin->count; i++) {
        struct entry *entry = origin->entries[i];
        uint32_t index;

        if (!entry || entry->identity || entry->ended)
            continue;
        if (batch_job(batch, &entry->job, &index))
            return -ENOMEM;
        entry->ended = entry->job.end_ns != 0;
        entry->used_ns = monotonic_ns();
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
