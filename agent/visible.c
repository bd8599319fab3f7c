/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/visible.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

static const struct job others = {.name = "(others)", .kind = "command", .command = "", .exit = -1};
/* Where others keep their files is theirs too. */
static const struct volume elsewhere = {.name = "(others)", .source = "", .fstype = ""};

static int copy_identity(struct batch *to, const struct batch *from)
{
    if (batch_set(to, &to->cluster, from->cluster) || batch_set(to, &to->node, from->node) ||
        batch_set(to, &to->role, from->role) || batch_set(to, &to->kernel, from->kernel) ||
        batch_set(to, &to->boot_id, from->boot_id) || batch_set(to, &to->stream, from->stream) ||
        batch_hooks(to, from->coverage.hooks, from->coverage.hook_count) ||
        batch_bypasses(to, from->coverage.bypasses, from->coverage.bypass_count))
        return -ENOMEM;
    to->seq = from->seq;
    to->start_ns = from->start_ns;
    to->duration_ns = from->duration_ns;
    to->interval_ms = from->interval_ms;
    to->pressure = from->pressure;
    to->coverage.lost = from->coverage.lost;
    to->coverage.killed = from->coverage.killed;
    to->coverage.in_flight = from->coverage.in_flight;
    to->coverage.unattributed = from->coverage.unattributed;
    to->coverage.overflow = from->coverage.overflow;
    memcpy(to->coverage.shed_ms, from->coverage.shed_ms, sizeof(to->coverage.shed_ms));
    return 0;
}

static int copy_record(struct batch *to, const struct batch *from, const struct record *record,
                       uint32_t uid)
{
    uint32_t job, volume, process = NO_INDEX;
    struct record *copy;
    int err;

    if (record->process != NO_INDEX && from->processes[record->process].uid == uid) {
        struct process own = from->processes[record->process];

        err = batch_job(to, &from->jobs[record->job], &job);
        own.job = job;
        if (!err)
            err = batch_process(to, &own, &process);
        if (!err)
            err = batch_volume(to, &from->volumes[record->volume], &volume);
    } else {
        err = batch_job(to, &others, &job);
        if (!err)
            err = batch_volume(to, &elsewhere, &volume);
    }
    if (!err)
        err = batch_record(to, job, volume, process, record->op, &copy);
    return err ? err : record_add(copy, record);
}

/* Whose the records of each job are: bits. */
enum owner { OWNER_SELF = 1, OWNER_OTHER = 2 };

/* A flow is a job's, which may be several people's: then it is nobody's. */
static int copy_flow(struct batch *to, const struct batch *from, const struct flow *flow, bool own)
{
    uint32_t job, volume;
    struct flow *copy;
    int err = batch_job(to, own ? &from->jobs[flow->job] : &others, &job);

    if (!err)
        err = batch_volume(to, own ? &from->volumes[flow->volume] : &elsewhere, &volume);
    if (!err)
        err = batch_flow(to, job, volume, &copy);
    return err ? err : flow_merge(copy, flow);
}

/* Names of folders are told to nobody but whose they are. */
static int copy_tree(struct batch *to, const struct batch *from, const struct tree *tree)
{
    uint32_t job, volume;
    struct tree *copy;
    int err = batch_job(to, &from->jobs[tree->job], &job);

    if (!err)
        err = batch_volume(to, &from->volumes[tree->volume], &volume);
    if (!err)
        err = batch_tree(to, job, volume, tree->name, &copy);
    return err ? err : tree_merge(copy, tree);
}

/* Flows and trees. */
static int copy_parts(struct batch *to, const struct batch *from, uint32_t uid)
{
    _cleanup_free_ unsigned char *owners = calloc(from->job_count + 1u, 1);
    int err = owners ? 0 : -ENOMEM;

    for (uint32_t i = 0; !err && i < from->record_count; i++) {
        const struct record *record = &from->records[i];
        bool own = record->process != NO_INDEX && from->processes[record->process].uid == uid;

        if (!operation_is_file(record->op))
            continue; /* requests that devices served belong to no process, and are in no flow */
        owners[record->job] |= own ? OWNER_SELF : OWNER_OTHER;
    }
    for (uint32_t i = 0; !err && i < from->flow_count; i++)
        err = copy_flow(to, from, &from->flows[i], owners[from->flows[i].job] == OWNER_SELF);
    for (uint32_t i = 0; !err && i < from->tree_count; i++)
        if (owners[from->trees[i].job] == OWNER_SELF)
            err = copy_tree(to, from, &from->trees[i]);
    return err;
}

/* The storage side is the node's; for whom it did something is theirs. */
static int copy_stations(struct batch *to, const struct batch *from)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < from->station_count; i++) {
        struct station key = from->stations[i], *copy;

        if (key.party == PARTY_SERVER)
            continue;
        if (key.party == PARTY_JOB)
            key.party = PARTY_UNKNOWN;
        key.job = NO_INDEX;
        err = batch_volume(to, &from->volumes[from->stations[i].volume], &key.volume);
        if (!err)
            err = batch_station(to, &key, &copy);
        if (!err)
            err = station_add(copy, &from->stations[i]);
    }
    return err;
}

/* That a job has ended is told to its user, also where its processes did nothing any more. */
static int copy_ends(struct batch *to, const struct batch *from, uint32_t uid)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < from->job_count; i++) {
        const struct job *job = &from->jobs[i];
        const struct passwd *user = job->end_ns && job->user ? getpwuid(uid) : NULL;
        uint32_t index;

        if (user && strcmp(user->pw_name, job->user) == 0)
            err = batch_job(to, job, &index);
    }
    return err;
}

int visible_batch(const struct batch *batch, uint32_t uid, struct batch **out)
{
    _cleanup_(batch_freep) struct batch *copy = NULL;
    int err = batch_new(&copy);

    if (!err)
        err = copy_identity(copy, batch);
    for (uint32_t i = 0; !err && i < batch->record_count; i++)
        err = copy_record(copy, batch, &batch->records[i], uid);
    if (!err)
        err = copy_ends(copy, batch, uid);
    if (!err)
        err = copy_parts(copy, batch, uid);
    if (!err)
        err = copy_stations(copy, batch);
    if (!err)
        *out = take_pointer(copy);
    return err;
}
