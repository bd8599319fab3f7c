/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/drain_private.h"

#include <string.h>

#include "probe/bpf/ownerabi.h"

int drain_process(struct drain *drain, uint32_t index, uint32_t tid, struct batch *batch, uint32_t *process,
                  uint32_t *job)
{
    struct abi_process *from = process_at(drain->from.tables, index);
    char command[sizeof(from->comm) + 1];
    struct process to;
    uint32_t id;
    int err = finder_job(drain->from.finder, index, from, &id);

    if (err)
        return err;
    memcpy(command, from->comm, sizeof(from->comm));
    command[sizeof(from->comm)] = '\0';
    err = origin_name(drain->from.origin, id, from->uid, command, batch, job);
    if (err || drain->grain < GRAIN_PROCESSES)
        return err;
    to = (struct process){
        .pid = from->tgid,
        .tid = drain->grain < GRAIN_THREADS ? 0 : tid & ~ABI_DEAD,
        .uid = from->uid,
        .start_ns = (int64_t)from->start_ns + drain->boot_to_wall_ns,
        .command = command,
        .job = *job,
        .exited = from->exited,
    };
    return batch_process(batch, &to, process);
}

int drain_series(struct drain *drain, uint32_t index, uint32_t tid, uint64_t volume_key, enum operation op,
                 struct batch *batch, struct record **record)
{
    uint32_t process = NO_INDEX, job, volume;
    int err = drain_process(drain, index, tid, batch, &process, &job);

    if (!err)
        err = volumes_name(drain->from.volumes, volume_key, batch, &volume);
    return err ? err : batch_record(batch, job, volume, process, op, record);
}

int drain_process_series(void *context, uint32_t index, uint64_t volume_key, enum operation op,
                         struct batch *batch, struct record **record)
{
    return drain_series(context, index, 0, volume_key, op, batch, record);
}

int drain_file_owner(void *context, const struct abi_file_told *told, struct batch *batch, struct opened_by *owner)
{
    struct drain *drain = context;
    uint32_t process = NO_INDEX;
    int err = 0;

    if (told->process)
        err = drain_process(drain, told->process, 0, batch, &process, &owner->job);
    if (drain->from.trees)
        owner->tree = trees_name(drain->from.trees, told->tree);
    return err ? err : volumes_name(drain->from.volumes, told->key.volume, batch, &owner->volume);
}

int drain_tree_owner(void *context, const struct abi_tree_key *key, struct batch *batch, uint32_t *job,
                     uint32_t *volume)
{
    struct drain *drain = context;
    uint32_t process = NO_INDEX, id = key->job;
    struct job *known;
    int err = 0;

    *job = NO_INDEX;
    if (id && key->holder)
        err = finder_outranking_job(drain->from.finder, key->job, key->holder, &id);
    known = id && !err ? origin_find(drain->from.origin, id) : NULL;
    if (known)
        err = batch_job(batch, known, job);
    else if (!key->job && key->holder)
        err = drain_process(drain, key->holder, 0, batch, &process, job);
    return err ? err : volumes_name(drain->from.volumes, key->volume, batch, volume);
}

bool drain_tree_gone(void *context, const struct abi_tree_key *key)
{
    const struct drain *drain = context;

    if (!key->job)
        return process_at(drain->from.tables, key->holder)->exited != 0;
    return !origin_find(drain->from.origin, key->job);
}
