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
#include "probe/procfile.h"

#define DEPTH_MAX 64 /* of a job's tree of processes */
#define CALM_PART 50 /* less of an interval in I/O is next to none */

static const char *const rank_variables[] = {"RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};

/* A process that did I/O. */
struct known {
    uint32_t pid, parent;
    int64_t start_ns;
    char *job;
    bool has_variable, is_rank;
    uint32_t rank; /* its position */
    uint64_t cpu_ns, queue_ns; /* of a rank's main thread, at the last look */
    int64_t looked_ns;         /* CLOCK_REALTIME; 0: never */
    uint64_t io_ns;            /* of a rank, with its descendants', in this interval */
    uint64_t whole_ns, exposed_ns; /* of an interval that it has been through from the start, else 0 */
};

/* What a GPU's users have been through since it was last told how busy it was. */
struct due {
    uint64_t watched_ns, io_ns, exposed_ns;
};

struct stalls {
    struct known *list;
    uint32_t count, capacity, ranks;
    struct gpus *gpus;
    struct due *due; /* of each GPU */
};

int stalls_new(struct stalls **out)
{
    struct stalls *stalls = calloc(1, sizeof(*stalls));

    const char *why;

    if (!stalls || gpus_new(&stalls->gpus)) {
        free(stalls);
        return -ENOMEM;
    }
    stalls->due = calloc(gpus_count(stalls->gpus, &why) + 1u, sizeof(*stalls->due));
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
    for (uint32_t i = 0; stalls && i < stalls->count; i++)
        free(stalls->list[i].job);
    if (stalls) {
        free(stalls->list);
        free(stalls->due);
        gpus_free(stalls->gpus);
    }
    free(stalls);
}

/* The text of /proc/PID/NAME, NUL behind it; its length, or -1. */
static ssize_t read_proc(uint32_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    _cleanup_fclose_ FILE *file = NULL;
    size_t length;

    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
    file = fopen(path, "re");
    if (!file)
        return -1;
    length = fread(text, 1, size - 1, file);
    if (ferror(file))
        return -1;
    text[length] = '\0';
    return (ssize_t)length;
}

static void ask(struct known *known)
{
    static char text[65536];
    struct procfile_stat stat;
    unsigned which;
    ssize_t length = read_proc(known->pid, "stat", text, sizeof(text));

    known->parent = length > 0 && procfile_stat(text, &stat) ? stat.parent : 0;
    length = read_proc(known->pid, "environ", text, sizeof(text));
    known->has_variable = length > 0 && procfile_variable(text, (size_t)length, rank_variables,
                                                          sizeof(rank_variables) / sizeof(*rank_variables), &which);
}

static struct known *find(struct stalls *stalls, uint32_t pid)
{
    for (uint32_t i = stalls->count; i-- > 0;) /* a number that is used again is the latest's */
        if (stalls->list[i].pid == pid)
            return &stalls->list[i];
    return NULL;
}

/* The process for which it works. */
static uint32_t rank_of(struct stalls *stalls, struct known *known)
{
    struct known *top = known, *marked = known->has_variable ? known : NULL;

    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        struct known *parent = top->parent ? find(stalls, top->parent) : NULL;

        if (!parent || parent == top || strcmp(parent->job, known->job) != 0)
            break;
        top = parent;
        marked = top->has_variable ? top : marked;
    }
    return (uint32_t)((marked ? marked : top) - stalls->list);
}

static int learn(struct stalls *stalls, const struct process *process, const char *job, struct known **out)
{
    struct known *known = find(stalls, process->pid);
    uint32_t at;

    if (known && known->start_ns == process->start_ns && strcmp(known->job, job) == 0) {
        *out = known;
        return 0;
    }
    if (stalls->count == stalls->capacity) {
        uint32_t wanted = stalls->capacity ? 2 * stalls->capacity : 64;
        struct known *grown = reallocarray(stalls->list, wanted, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        stalls->list = grown;
        stalls->capacity = wanted;
    }
    at = stalls->count;
    known = &stalls->list[at];
    *known = (struct known){.pid = process->pid, .start_ns = process->start_ns, .job = strdup(job)};
    if (!known->job)
        return -ENOMEM;
    stalls->count++;
    ask(known);
    known->rank = rank_of(stalls, known);
    if (known->rank == at && stalls->ranks < STALL_RANKS_MAX) {
        known->is_rank = true;
        stalls->ranks++;
    }
    *out = known;
    return 0;
}

/* What the batch's operations took, by rank. */
static int add_io(struct stalls *stalls, const struct batch *batch, uint64_t interval_ns)
{
    _cleanup_free_ uint32_t *ranks = calloc(batch->process_count + 1u, sizeof(*ranks));

    if (!ranks)
        return -ENOMEM;
    for (uint32_t i = 0; i < stalls->count; i++)
        stalls->list[i].io_ns = stalls->list[i].whole_ns = stalls->list[i].exposed_ns = 0;
    for (uint32_t i = 0; i < batch->process_count; i++) {
        struct known *known;
        int err = learn(stalls, &batch->processes[i], batch->jobs[batch->processes[i].job].name, &known);

        if (err)
            return err;
        ranks[i] = known->rank;
    }
    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (record->process != NO_INDEX && operation_is_file(record->op))
            stalls->list[ranks[record->process]].io_ns += record->latency_sum_ns + MIN(record->in_flight_ns, interval_ns);
    }
    return 0;
}

/* The rank's time off the processors since the last look; false when there is none to compare with. */
static bool look(struct known *known, int64_t now_ns, int64_t interval_start_ns, uint64_t *passed_ns, uint64_t *off_ns)
{
    char text[128];
    uint64_t cpu_ns, queue_ns, used_ns;
    bool whole = known->looked_ns || known->start_ns >= interval_start_ns;
    int64_t since_ns = known->looked_ns ? known->looked_ns : known->start_ns;

    if (read_proc(known->pid, "schedstat", text, sizeof(text)) <= 0 ||
        sscanf(text, "%" SCNu64 " %" SCNu64, &cpu_ns, &queue_ns) != 2) {
        known->is_rank = false; /* it is gone */
        return false;
    }
    used_ns = cpu_ns - known->cpu_ns + queue_ns - known->queue_ns;
    known->cpu_ns = cpu_ns;
    known->queue_ns = queue_ns;
    known->looked_ns = now_ns;
    if (!whole || now_ns <= since_ns)
        return false;
    *passed_ns = (uint64_t)(now_ns - since_ns);
    *off_ns = *passed_ns > used_ns ? *passed_ns - used_ns : 0;
    return true;
}

/* Processes that have gone make room, when nobody works for them. */
static void forget(struct stalls *stalls)
{
    if (stalls->count < 4096)
        return;
    for (uint32_t i = 0; i < stalls->count; i++)
        free(stalls->list[i].job);
    stalls->count = stalls->ranks = 0; /* ranks are found again, and lose one interval */
}

static struct job *job_named(struct batch *batch, const char *name)
{
    for (uint32_t i = 0; i < batch->job_count; i++)
        if (strcmp(batch->jobs[i].name, name) == 0)
            return &batch->jobs[i];
    return NULL;
}

/* The ranks that compute on a GPU, each once; none where they are of several jobs, or not all known. */
static uint32_t ranks_on(struct stalls *stalls, const struct gpu *gpu, struct known **ranks)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < gpu->user_count; i++) {
        struct known *user = find(stalls, gpu->users[i]), *rank = user ? &stalls->list[user->rank] : NULL;
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
    const char *why;
    uint32_t count = gpus_count(stalls->gpus, &why);
    const struct gpu *gpus = gpus_look(stalls->gpus);

    for (uint32_t g = 0; g < count; g++) {
        struct known *ranks[GPU_USERS_MAX];
        uint32_t users = ranks_on(stalls, &gpus[g], ranks);
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

    forget(stalls);
    err = add_io(stalls, batch, now_ns > batch->start_ns ? (uint64_t)(now_ns - batch->start_ns) : 0);
    for (uint32_t i = 0; !err && i < stalls->count; i++) {
        struct known *known = &stalls->list[i];
        uint64_t passed_ns, off_ns;
        bool before = known->looked_ns;
        struct job *job;

        if (!known->is_rank || !look(known, now_ns, batch->start_ns, &passed_ns, &off_ns))
            continue;
        job = job_named(batch, known->job);
        if (!job)
            continue; /* nothing of it is told in this interval */
        job->watched_ns += passed_ns;
        job->exposed_ns += MIN(off_ns, known->io_ns);
        if (!before)
            continue;
        known->whole_ns = passed_ns;
        known->exposed_ns = MIN(off_ns, known->io_ns);
    }
    if (!err)
        add_gpus(stalls, batch);
    return err;
}
