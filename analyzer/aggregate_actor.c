/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where totals are by volume: processes with all their volumes, and the jobs that they are of. */
#include "analyzer/aggregate_private.h"

#include <errno.h>
#include <string.h>

static bool are_same(const char *a, const char *b)
{
    return !a == !b && (!a || strcmp(a, b) == 0);
}

/* The home that a job is, found or added. 0 or -ENOMEM. */
static int find_home(struct aggregate *a, const struct batch *batch, const struct job *job, uint32_t *out)
{
    const char *node = aggregate_is_local(job) ? batch->node : NULL;
    uint32_t hash = lookup_hash(job->name, strlen(job->name)), cursor = hash;
    struct home *home;

    while (lookup_next(&a->home_index, hash, &cursor, out)) {
        home = &a->homes[*out];
        if (strcmp(home->name, job->name) == 0 && strcmp(home->cluster, batch->cluster) == 0 &&
            are_same(home->node, node))
            return 0;
    }
    if (RESERVE(a->homes, a->home, sizeof(*home)) || lookup_reserve(&a->home_index))
        return -ENOMEM;
    home = &a->homes[a->home_count];
    if (aggregate_keep(a, &home->cluster, batch->cluster) || aggregate_keep(a, &home->name, job->name) ||
        aggregate_keep(a, &home->node, node))
        return -ENOMEM;
    lookup_insert(&a->home_index, hash, a->home_count);
    *out = a->home_count++;
    return 0;
}

int aggregate_actor(struct aggregate *a, const struct batch *batch, const struct process *process, uint32_t *out)
{
    const int64_t key[2] = {process->pid, process->start_ns};
    uint32_t hash = lookup_hash(key, sizeof(key)), cursor = hash, at, home;
    struct actor *actor;

    if (find_home(a, batch, &batch->jobs[process->job], &home))
        return -ENOMEM;
    while (lookup_next(&a->actor_index, hash, &cursor, &at)) {
        actor = &a->actors[at];
        if (actor->pid == process->pid && actor->start_ns == process->start_ns && actor->home == home &&
            strcmp(actor->node, batch->node) == 0) {
            *out = at;
            return 0;
        }
    }
    if (RESERVE(a->actors, a->actor, sizeof(*actor)) || lookup_reserve(&a->actor_index))
        return -ENOMEM;
    actor = &a->actors[a->actor_count];
    *actor = (struct actor){.pid = process->pid, .start_ns = process->start_ns, .home = home};
    if (aggregate_keep(a, &actor->node, batch->node))
        return -ENOMEM;
    lookup_insert(&a->actor_index, hash, a->actor_count);
    *out = a->actor_count++;
    return 0;
}
