/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of the totals: their order, and giving them back. */
#include "analyzer/aggregate_private.h"
#include "lib/order.h"

#include <stdlib.h>
#include <string.h>

static void clear_volume(struct volume_total *volume)
{
    tally_clear(&volume->tally);
    tally_clear(&volume->rest);
    concert_clear(&volume->concert);
    series_clear(&volume->series);
    series_clear(&volume->busy);
    kinds_clear(&volume->kinds);
    series_clear(&volume->reached);
    series_clear(&volume->reached_busy);
    windows_clear(&volume->windows);
    filling_clear(&volume->filling);
    working_clear(&volume->working);
    forest_clear(&volume->forest);
    free(volume->mounts);
    free(volume->stuck);
    free(volume->gauges);
    free(volume->tellers);
    lookup_clear(&volume->teller_index);
}

static void clear_volumes(struct volume_total *volumes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        clear_volume(&volumes[i]);
    free(volumes);
}

static void clear_job(struct job_total *job)
{
    clear_volumes(job->volumes, job->volume_count);
    for (uint32_t i = 0; i < job->unit_count; i++)
        tally_clear(&job->units[i].tally);
    lookup_clear(&job->unit_index);
    tally_clear(&job->tally);
    series_clear(&job->series);
    windows_clear(&job->windows);
    free(job->units);
    free(job->nodes);
    free(job->attempts);
}

static int by_node(const void *a, const void *b)
{
    const struct node_total *x = a, *y = b;

    return strcmp(x->cluster, y->cluster) ?: strcmp(x->node, y->node);
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

    return ORDER(x->start_ns, y->start_ns) ?: strcmp(x->node, y->node);
}

static int by_job(const void *a, const void *b)
{
    const struct job_total *x = a, *y = b;

    return ORDER(tally_file_bytes(&y->tally), tally_file_bytes(&x->tally))
               ?: ORDER(tally_file_ops(&y->tally), tally_file_ops(&x->tally))
               ?: strcmp(x->name, y->name)
               ?: strcmp(x->node ?: "", y->node ?: "");
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

/* Whether anything of it was an operation, or is one that has not returned. Minor page faults are none. */
static bool is_active(const struct job_total *job)
{
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        if (tally_ops(&job->tally, op))
            return true;
    for (uint32_t i = 0; i < job->volume_count; i++)
        if (job->volumes[i].gauge_count)
            return true;
    return false;
}

/* Jobs that did no I/O are known to some origins and not to others: none of them is shown. */
static void drop_idle(struct aggregate *a)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < a->job_count; i++)
        if (is_active(&a->jobs[i]))
            a->jobs[kept++] = a->jobs[i];
        else
            clear_job(&a->jobs[i]);
    a->job_count = kept;
}

static void finish_windows(struct aggregate *a)
{
    windows_finish(&a->windows, &a->watched);
    windows_finish(&a->shared.windows, &a->watched);
    for (uint32_t i = 0; i < a->volume_count; i++)
        windows_finish(&a->volumes[i].windows, &a->watched);
    for (uint32_t i = 0; i < a->job_count; i++) {
        windows_finish(&a->jobs[i].windows, &a->watched);
        for (uint32_t v = 0; v < a->jobs[i].volume_count; v++)
            windows_finish(&a->jobs[i].volumes[v].windows, &a->watched);
    }
}

struct volume_total *volume_named(struct volume_total *volumes, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(volumes[i].name, name) == 0)
            return &volumes[i];
    return NULL;
}

static int add_up_job(struct aggregate *a, struct job_total *job)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < job->unit_count; i++)
        err = tally_merge(&volume_named(job->volumes, job->volume_count, job->units[i].volume)->tally,
                          &job->units[i].tally);
    for (uint32_t v = 0; !err && v < job->volume_count; v++) {
        struct volume_total *volume = &job->volumes[v];

        err = tally_merge(&volume->tally, &volume->rest);
        if (!err)
            err = tally_merge(&job->tally, &volume->tally);
        if (!err)
            err = tally_merge(&volume_named(a->volumes, a->volume_count, volume->name)->tally, &volume->tally);
    }
    return err ? err : tally_merge(&a->tally, &job->tally);
}

/* What is known of actors goes to their parts. */
static void add_manners(struct aggregate *a, struct job_total *job)
{
    for (uint32_t i = 0; a->grouping == GROUP_VOLUME && i < job->unit_count; i++)
        job->units[i].manner = a->actors[job->units[i].actor].manner;
}

int aggregate_sort(struct aggregate *a)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < a->job_count; i++) {
        add_manners(a, &a->jobs[i]);
        err = add_up_job(a, &a->jobs[i]);
    }
    if (err)
        return err;
    drop_idle(a);
    finish_windows(a);
    for (uint32_t i = 0; i < a->job_count; i++) {
        struct job_total *job = &a->jobs[i];

        sort(job->volumes, job->volume_count, sizeof(*job->volumes), by_volume);
        sort(job->nodes, job->node_count, sizeof(*job->nodes), by_string);
        sort(job->attempts, job->attempt_count, sizeof(*job->attempts), by_attempt);
        for (uint32_t v = 0; v < job->volume_count; v++)
            sort(job->volumes[v].mounts, job->volumes[v].mount_count, sizeof(char *), by_string);
        for (uint32_t v = 0; v < job->volume_count; v++)
            forest_sort(&job->volumes[v].forest);
    }
    for (uint32_t v = 0; v < a->volume_count; v++)
        forest_sort(&a->volumes[v].forest);
    sort(a->nodes, a->node_count, sizeof(*a->nodes), by_node);
    sort(a->volumes, a->volume_count, sizeof(*a->volumes), by_volume);
    sort(a->hooks, a->hook_count, sizeof(*a->hooks), by_hook);
    sort(a->jobs, a->job_count, sizeof(*a->jobs), by_job);
    backends_sort(&a->backends);
    lookup_clear(&a->job_index); /* their positions are stale now */
    lookup_clear(&a->node_index);
    lookup_clear(&a->actor_index);
    lookup_clear(&a->home_index);
    return aggregate_name_hooks(a);
}

void aggregate_clear(struct aggregate *a)
{
    for (uint32_t i = 0; i < a->job_count; i++)
        clear_job(&a->jobs[i]);
    for (uint32_t i = 0; i < a->node_count; i++)
        free(a->nodes[i].missing);
    clear_volumes(a->volumes, a->volume_count);
    clear_volume(&a->shared);
    tally_clear(&a->tally);
    series_clear(&a->series);
    windows_clear(&a->windows);
    watched_clear(&a->watched);
    twice_clear(&a->dropped);
    overlap_clear(&a->overlap);
    backends_clear(&a->backends);
    lookup_clear(&a->job_index);
    lookup_clear(&a->node_index);
    lookup_clear(&a->actor_index);
    lookup_clear(&a->home_index);
    free(a->actors);
    free(a->homes);
    free(a->jobs);
    free(a->nodes);
    free(a->hooks);
    free(a->bypasses);
    arena_clear(&a->arena);
    *a = (struct aggregate){0};
}
