/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/stall.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "probe/host.h"
#include "probe/rank.h"

#define CALM_PART 50 /* less of an interval in I/O is next to none */

/* What a GPU's users have been through since it was last told how busy it was. */
struct due {
    uint64_t watched_ns, io_ns, exposed_ns;
};

struct stalls {
    struct workers workers;
    struct gpus *gpus;
    struct due *due; /* of each GPU */
};

int stalls_new(struct stalls **out)
{
    struct stalls *stalls = calloc(1, sizeof(*stalls));

    if (!stalls || gpus_new(&stalls->gpus)) {
        free(stalls);
        return -ENOMEM;
    }
    stalls->due = calloc(gpus_count(stalls->gpus) + 1u, sizeof(*stalls->due));
    if (!stalls->due) {
        stalls_free(stalls);
        return -ENOMEM;
    }
    *out = stalls;
    return 0;
}

const struct gpus *stalls_gpus(const struct stalls *stalls)
{
    return stalls->gpus;
}

void stalls_free(struct stalls *stalls)
{
    if (stalls) {
        workers_clear(&stalls->workers);
        free(stalls->due);
        gpus_free(stalls->gpus);
    }
    free(stalls);
}

/* What the batch's operations took, by rank. */
static int add_io(struct workers *workers, const struct batch *batch, uint64_t interval_ns)
{
    _cleanup_free_ uint32_t *ranks = calloc(batch->process_count + 1u, sizeof(*ranks));

    if (!ranks)
        return -ENOMEM;
    for (uint32_t i = 0; i < workers->count; i++)
        workers->list[i].io_ns = workers->list[i].whole_ns = workers->list[i].exposed_ns = 0;
    for (uint32_t i = 0; i < batch->process_count; i++) {
        const struct process *process = &batch->processes[i];
        struct worker *worker;
        int err = workers_learn(workers, process, batch->jobs[process->job].name, &worker);

        if (err)
            return err;
        ranks[i] = worker->rank;
    }
    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (record->process != NO_INDEX && operation_is_file(record->op))
            workers->list[ranks[record->process]].io_ns +=
                record->latency_sum_ns + MIN(record->in_flight_ns, interval_ns);
    }
    return 0;
}

/* The rank's time off the processors since the last look; false when there is none to compare with. */
static bool look(struct worker *worker, int64_t now_ns, int64_t interval_start_ns, uint64_t *passed_ns,
                 uint64_t *off_ns)
{
    _cleanup_free_ char *text = NULL;
    uint64_t cpu_ns, queue_ns, used_ns;
    bool whole = worker->looked_ns || worker->start_ns >= interval_start_ns;
    int64_t since_ns = worker->looked_ns ? worker->looked_ns : worker->start_ns;

    if (host_read("", &text, NULL, "/proc/%u/schedstat", worker->pid) ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &cpu_ns, &queue_ns) != 2) {
        worker->is_rank = false; /* it is gone */
        return false;
    }
    used_ns = cpu_ns - worker->cpu_ns + queue_ns - worker->queue_ns;
    worker->cpu_ns = cpu_ns;
    worker->queue_ns = queue_ns;
    worker->looked_ns = now_ns;
    if (!whole || now_ns <= since_ns)
        return false;
    *passed_ns = (uint64_t)(now_ns - since_ns);
    *off_ns = *passed_ns > used_ns ? *passed_ns - used_ns : 0;
    return true;
}

static struct job *job_named(struct batch *batch, const char *name)
{
    for (uint32_t i = 0; i < batch->job_count; i++)
        if (strcmp(batch->jobs[i].name, name) == 0)
            return &batch->jobs[i];
    return NULL;
}

/* The ranks that compute on a GPU, each once; none where they are of several jobs, or not all known. */
static uint32_t ranks_on(struct workers *workers, const struct gpu *gpu, struct worker **ranks)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < gpu->user_count; i++) {
        struct worker *user = workers_find(workers, gpu->users[i]), *rank = user ? &workers->list[user->rank] : NULL;
        uint32_t at = 0;

        if (!rank || !rank->whole_ns || (count && strcmp(rank->job, ranks[0]->job) != 0))
            return 0;
        while (at < count && ranks[at] != rank)
            at++;
        if (at == count)
            ranks[count++] = rank;
    }
    return count;
}

/* Those who share a GPU share its time. */
static void add_gpus(struct stalls *stalls, struct batch *batch)
{
    uint32_t count = gpus_count(stalls->gpus);
    const struct gpu *gpus = gpus_look(stalls->gpus);

    for (uint32_t g = 0; g < count; g++) {
        struct worker *ranks[GPU_USERS_MAX];
        uint32_t users = ranks_on(&stalls->workers, &gpus[g], ranks);
        struct job *job = users ? job_named(batch, ranks[0]->job) : NULL;
        struct due *due = &stalls->due[g];

        for (uint32_t i = 0; i < users; i++) {
            due->watched_ns += ranks[i]->whole_ns / users;
            due->exposed_ns += ranks[i]->exposed_ns / users;
            due->io_ns += MIN(ranks[i]->io_ns, ranks[i]->whole_ns) / users;
        }
        if (job && gpus[g].told) {
            uint64_t idle_ns = (uint64_t)(gpus[g].idle * (double)due->watched_ns);
            bool calm = due->io_ns < due->watched_ns / CALM_PART;

            gpu_time_add(&job->gpu, &(struct gpu_time){due->watched_ns, idle_ns, due->io_ns, MIN(idle_ns, due->io_ns),
                                                       MIN(idle_ns, due->exposed_ns), calm ? due->watched_ns : 0,
                                                       calm ? idle_ns : 0});
        }
        if (!job || gpus[g].told)
            *due = (struct due){0};
    }
}

int stalls_report(struct stalls *stalls, struct batch *batch)
{
    int64_t now_ns = wall_clock_ns();
    int err;

    workers_forget(&stalls->workers);
    err = add_io(&stalls->workers, batch, now_ns > batch->start_ns ? (uint64_t)(now_ns - batch->start_ns) : 0);
    for (uint32_t i = 0; !err && i < stalls->workers.count; i++) {
        struct worker *worker = &stalls->workers.list[i];
        uint64_t passed_ns, off_ns, exposed_ns;
        bool before = worker->looked_ns;
        struct job *job;

        if (!worker->is_rank || !look(worker, now_ns, batch->start_ns, &passed_ns, &off_ns))
            continue;
        job = job_named(batch, worker->job);
        if (!job)
            continue; /* nothing of it is told in this interval */
        exposed_ns = MIN(off_ns, worker->io_ns);
        job->watched_ns += passed_ns;
        job->exposed_ns += exposed_ns;
        if (!before)
            continue;
        worker->whole_ns = passed_ns;
        worker->exposed_ns = exposed_ns;
    }
    if (!err)
        add_gpus(stalls, batch);
    return err;
}
