/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/host.h"
#include "probe/procfile.h"

#define DEPTH_MAX 64 /* of a job's tree of processes */
#define FORGET_AT 4096

static const char *const rank_variables[] = {"RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};

void workers_clear(struct workers *workers)
{
    for (uint32_t i = 0; i < workers->count; i++)
        free(workers->list[i].job);
    free(workers->list);
    *workers = (struct workers){0};
}

/* What /proc says of it. */
static void ask(struct worker *worker)
{
    _cleanup_free_ char *environment = NULL, *text = NULL;
    struct procfile_stat stat;
    unsigned which;
    size_t size;

    if (host_read("", &text, NULL, "/proc/%u/stat", worker->pid) == 0 && procfile_stat(text, &stat))
        worker->parent = stat.parent;
    worker->has_variable = host_read("", &environment, &size, "/proc/%u/environ", worker->pid) == 0 &&
                           procfile_variable(environment, size, rank_variables,
                                             sizeof(rank_variables) / sizeof(*rank_variables), &which);
}

struct worker *workers_find(struct workers *workers, uint32_t pid)
{
    for (uint32_t i = workers->count; i-- > 0;) /* a number that is used again is the latest's */
        if (workers->list[i].pid == pid)
            return &workers->list[i];
    return NULL;
}

/* The process for which it works. */
static uint32_t rank_of(struct workers *workers, struct worker *worker)
{
    struct worker *top = worker, *marked = worker->has_variable ? worker : NULL;

    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        struct worker *parent = top->parent ? workers_find(workers, top->parent) : NULL;

        if (!parent || parent == top || strcmp(parent->job, worker->job) != 0)
            break;
        top = parent;
        marked = top->has_variable ? top : marked;
    }
    return (uint32_t)((marked ? marked : top) - workers->list);
}

int workers_learn(struct workers *workers, const struct process *process, const char *job, struct worker **out)
{
    struct worker *worker = workers_find(workers, process->pid);
    uint32_t at;

    if (worker && worker->start_ns == process->start_ns && strcmp(worker->job, job) == 0) {
        *out = worker;
        return 0;
    }
    if (workers->count == workers->capacity) {
        uint32_t wanted = workers->capacity ? 2 * workers->capacity : 64;
        struct worker *grown = reallocarray(workers->list, wanted, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        workers->list = grown;
        workers->capacity = wanted;
    }
    at = workers->count;
    worker = &workers->list[at];
    *worker = (struct worker){.pid = process->pid, .start_ns = process->start_ns, .job = strdup(job)};
    if (!worker->job)
        return -ENOMEM;
    workers->count++;
    ask(worker);
    worker->rank = rank_of(workers, worker);
    if (worker->rank == at && workers->ranks < RANKS_MAX) {
        worker->is_rank = true;
        workers->ranks++;
    }
    *out = worker;
    return 0;
}

void workers_forget(struct workers *workers)
{
    if (workers->count >= FORGET_AT)
        workers_clear(workers);
}
