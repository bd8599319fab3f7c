/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/stall.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "probe/host.h"
#include "probe/inside.h"
#include "probe/rank.h"

#define STAND_BACK_NS 500000000LL
#define CALM_PART     50 /* less of an interval in I/O is next to none */

/* What a GPU's users have been through since it was last told how busy it was. */
struct due {
    uint64_t watched_ns, io_ns, exposed_ns;
};

struct stalls {
    struct stall_sources from;
    struct ranks ranks;
    struct gpus *gpus; /* NULL: not asked for */
    struct due *due;   /* of each GPU */
    int64_t began_ns;  /* CLOCK_BOOTTIME */
    int64_t looked_ns; /* the same; 0: not yet */
};

int stalls_new(const struct stall_sources *sources, bool everything, struct stalls **out)
{
    struct stalls *stalls = calloc(1, sizeof(*stalls));

    if (!stalls)
        return -ENOMEM;
    stalls->from = *sources;
    stalls->began_ns = clock_ns(CLOCK_BOOTTIME);
    if (ranks_open(&stalls->ranks, sources->tables, sources->finder, sources->root, !everything) ||
        (everything && (gpus_new(&stalls->gpus) ||
                        !(stalls->due = calloc(gpus_count(stalls->gpus) + 1u, sizeof(*stalls->due)))))) {
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
    if (!stalls)
        return;
    ranks_close(&stalls->ranks);
    free(stalls->due);
    gpus_free(stalls->gpus);
    free(stalls);
}

/* For how long each rank's processes have been inside operations, up to now. */
static void sum_up(struct stalls *stalls)
{
    const struct tables *tables = stalls->from.tables;
    const struct table *threads = &tables->table[ABI_TABLE_THREADS];
    uint32_t processes = tables->table[ABI_TABLE_PROCESSES].entries;
    uint64_t since_ns = *stalls->from.since_ns;
    int64_t now_ns = monotonic_ns();

    for (uint32_t i = 0; i < stalls->ranks.count; i++)
        stalls->ranks.list[i].now_ns = 0;
    for (uint32_t i = 1; i <= threads->high; i++) {
        const struct abi_thread *thread = thread_at(tables, i);
        uint32_t process = thread->process;
        struct rank *rank = process && process < processes ? ranks_of(&stalls->ranks, process) : NULL;

        if (rank)
            rank->now_ns += inside_ns(tables, thread, since_ns, now_ns);
    }
}

/* Its main thread's time on a processor, and waiting for one, since the last look; and how much of that may have been
   before it: the kernel tells of a wait when it ends. False when it is gone. */
static bool read_used(struct rank *rank, int64_t *used_ns, int64_t *late_ns)
{
    uint64_t cpu_ns, queue_ns;
    char text[128];
    ssize_t size = rank->schedstat < 0 ? -1 : pread(rank->schedstat, text, sizeof(text) - 1, 0);

    if (size > 0)
        text[size] = '\0';
    if (size <= 0 || sscanf(text, "%" SCNu64 " %" SCNu64, &cpu_ns, &queue_ns) != 2) {
        if (rank->schedstat >= 0)
            close(rank->schedstat);
        rank->schedstat = -1;
        return false;
    }
    *late_ns = MIN((int64_t)(queue_ns - rank->queue_ns), rank->spare_ns);
    *used_ns = (int64_t)(cpu_ns - rank->cpu_ns + queue_ns - rank->queue_ns);
    rank->cpu_ns = cpu_ns;
    rank->queue_ns = queue_ns;
    return true;
}

/* A shell waits for what it has started, and so for all the I/O of that. passed_ns, of which it used that much of a
   processor. */
static bool stands_back(struct stalls *stalls, struct rank *rank, int64_t passed_ns, int64_t used_ns)
{
    _cleanup_free_ char *where = NULL;
    bool waits = used_ns < passed_ns / 10 &&
                 host_read(stalls->from.root, &where, NULL, "/proc/%u/wchan", rank->pid) == 0 &&
                 strcmp(where, "do_wait") == 0;

    rank->waited_ns = waits ? rank->waited_ns + passed_ns : 0;
    if (rank->waited_ns >= STAND_BACK_NS && !rank->stands_back)
        ranks_stand_back(&stalls->ranks, rank);
    else if (used_ns > passed_ns / 2)
        rank->stands_back = false; /* it computes again */
    return rank->stands_back;
}

static void look_at(struct stalls *stalls, struct rank *rank, int64_t before_ns)
{
    /* One that was born since the last look is known from its start. */
    bool newborn = !rank->looked_ns && rank->start_ns >= before_ns;
    int64_t since_ns = newborn ? rank->start_ns : rank->looked_ns;
    int64_t now_ns, used_ns, late_ns, off_ns;
    uint64_t io_ns = rank->now_ns > rank->inside_ns ? rank->now_ns - rank->inside_ns : 0;

    if (!read_used(rank, &used_ns, &late_ns))
        return;
    now_ns = clock_ns(CLOCK_BOOTTIME); /* of this very reading: who looks may have been kept waiting, too */
    rank->looked_ns = now_ns;
    rank->inside_ns += io_ns;
    if (!since_ns || now_ns <= since_ns || stands_back(stalls, rank, now_ns - since_ns, used_ns))
        return;
    /* The kernel adds a running thread's time up at its ticks: what it tells late belongs to looks before. */
    off_ns = now_ns - since_ns - used_ns + late_ns - rank->owed_ns;
    rank->owed_ns = off_ns < 0 ? -off_ns : 0;
    rank->spare_ns = (used_ns ? 0 : rank->spare_ns) + (off_ns > (int64_t)io_ns ? off_ns - (int64_t)io_ns : 0);
    rank->watched_ns += (uint64_t)(now_ns - since_ns);
    rank->io_ns += io_ns;
    rank->exposed_ns += off_ns > 0 ? MIN((uint64_t)off_ns, io_ns) : 0;
}

static void look(struct stalls *stalls, int64_t before_ns)
{
    if (!stalls->ranks.count)
        return;
    sum_up(stalls);
    for (uint32_t i = 0; i < stalls->ranks.count; i++)
        if (stalls->ranks.list[i].used)
            look_at(stalls, &stalls->ranks.list[i], before_ns);
}

int stalls_look(struct stalls *stalls)
{
    int64_t now_ns = clock_ns(CLOCK_BOOTTIME), before_ns = stalls->looked_ns ? stalls->looked_ns : stalls->began_ns;
    int err;

    if (now_ns - stalls->looked_ns < tables_pause_ns(stalls->from.tables))
        return 0;
    err = ranks_find(&stalls->ranks, now_ns);
    stalls->looked_ns = now_ns;
    look(stalls, before_ns);
    return err;
}

void stalls_before_drain(struct stalls *stalls)
{
    look(stalls, stalls->looked_ns);
}

void stalls_after_drain(struct stalls *stalls)
{
    if (!stalls->ranks.count)
        return;
    sum_up(stalls);
    for (uint32_t i = 0; i < stalls->ranks.count; i++)
        stalls->ranks.list[i].inside_ns = stalls->ranks.list[i].now_ns;
}

static bool is_of_job(const struct rank *a, const struct rank *b)
{
    return a->job == b->job && (a->job || (a->uid == b->uid && strcmp(a->command, b->command) == 0));
}

/* The ranks that compute on a GPU, each once; none where they are of several jobs, or not all known. */
static uint32_t ranks_on(struct stalls *stalls, const struct gpu *gpu, struct rank **ranks)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < gpu->user_count; i++) {
        struct rank *rank = ranks_of_pid(&stalls->ranks, gpu->users[i]);
        uint32_t at = 0;

        if (!rank || !rank->whole || !rank->watched_ns || (count && !is_of_job(rank, ranks[0])))
            return 0;
        while (at < count && ranks[at] != rank)
            at++;
        if (at == count)
            ranks[count++] = rank;
    }
    return count;
}

static int job_of(struct stalls *stalls, const struct rank *rank, struct batch *batch, struct job **job)
{
    uint32_t index;
    int err = origin_name(stalls->from.origin, rank->job, rank->uid, rank->command, batch, &index);

    if (!err)
        *job = &batch->jobs[index];
    return err;
}

/* Those who share a GPU share its time. */
static int add_gpus(struct stalls *stalls, struct batch *batch)
{
    uint32_t count = gpus_count(stalls->gpus);
    const struct gpu *gpus = gpus_look(stalls->gpus);

    for (uint32_t g = 0; g < count; g++) {
        struct rank *ranks[GPU_USERS_MAX];
        uint32_t users = ranks_on(stalls, &gpus[g], ranks);
        struct due *due = &stalls->due[g];
        struct job *job;

        for (uint32_t i = 0; i < users; i++) {
            due->watched_ns += ranks[i]->watched_ns / users;
            due->exposed_ns += ranks[i]->exposed_ns / users;
            due->io_ns += MIN(ranks[i]->io_ns, ranks[i]->watched_ns) / users;
        }
        if (users && gpus[g].told) {
            uint64_t idle_ns = (uint64_t)(gpus[g].idle * (double)due->watched_ns);
            bool calm = due->io_ns < due->watched_ns / CALM_PART;
            int err = job_of(stalls, ranks[0], batch, &job);

            if (err)
                return err;
            gpu_time_add(&job->gpu, &(struct gpu_time){due->watched_ns, idle_ns, due->io_ns, MIN(idle_ns, due->io_ns),
                                                       MIN(idle_ns, due->exposed_ns), calm ? due->watched_ns : 0,
                                                       calm ? idle_ns : 0});
        }
        if (!users || gpus[g].told)
            *due = (struct due){0};
    }
    return 0;
}

int stalls_report(struct stalls *stalls, struct batch *batch)
{
    int err = 0;

    for (uint32_t i = 0; !err && batch && i < stalls->ranks.count; i++) {
        struct rank *rank = &stalls->ranks.list[i];
        struct job *job;

        if (!rank->watched_ns)
            continue;
        err = job_of(stalls, rank, batch, &job);
        if (!err) {
            job->watched_ns += rank->watched_ns;
            job->exposed_ns += rank->exposed_ns;
        }
    }
    if (!err && batch && stalls->gpus)
        err = add_gpus(stalls, batch);
    for (uint32_t i = 0; i < stalls->ranks.count; i++) {
        struct rank *rank = &stalls->ranks.list[i];

        rank->watched_ns = rank->io_ns = rank->exposed_ns = 0;
        rank->whole = true;
    }
    return err;
}
