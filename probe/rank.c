/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/order.h"
#include "probe/host.h"
#include "probe/procfile.h"
#include "probe/reader.h"

#define SECOND_NS  1000000000LL
#define ASK_SECOND 16   /* environments a second, where nobody asked about ranks */
#define AT_ONCE    1024 /* new processes; the others' turn is the next look */

/* What is known of a process in the table. It is the one with that start. */
struct met {
    int64_t start_ns;
    bool judged;
};

static const char *const rank_variables[] = {"RANK", "LOCAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};

static int read_proc(const char *root, const char *path, struct reader_file *file)
{
    return host_read(root, &file->text, &file->size, "%s", path);
}

int ranks_open(struct ranks *ranks, struct tables *tables, struct finder *finder, const char *root, bool marked_only)
{
    uint32_t processes = tables->table[ABI_TABLE_PROCESSES].entries;

    *ranks = (struct ranks){.tables = tables, .finder = finder, .root = root, .marked_only = marked_only};
    ranks->of = calloc(processes, sizeof(*ranks->of));
    ranks->met = calloc(processes, sizeof(*ranks->met));
    if (ranks->of && ranks->met && reader_new(root, read_proc, &ranks->reader) == 0)
        return 0;
    ranks_close(ranks);
    return -ENOMEM;
}

void ranks_close(struct ranks *ranks)
{
    for (uint32_t i = 0; i < ranks->count; i++)
        if (ranks->list[i].used && ranks->list[i].schedstat >= 0)
            close(ranks->list[i].schedstat);
    free(ranks->of);
    free(ranks->met);
    reader_free(ranks->reader);
    *ranks = (struct ranks){0};
}

static bool is_marked(struct ranks *ranks, uint32_t pid)
{
    _cleanup_free_ char *text = NULL;
    struct reader_file file;
    unsigned which;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%u/environ", pid);
    if (reader_read(ranks->reader, path, &file))
        return false; /* it is gone, or hangs */
    text = file.text;
    return procfile_variable(text, file.size, rank_variables, sizeof(rank_variables) / sizeof(*rank_variables), &which);
}

static bool is_same(const struct rank *rank, const struct abi_process *process, uint32_t job)
{
    return rank->job == job &&
           (job || (rank->uid == process->uid && strncmp(rank->command, process->comm, sizeof(process->comm)) == 0));
}

struct rank *ranks_of(struct ranks *ranks, uint32_t index)
{
    if (!ranks->of[index] || ranks->met[index].start_ns != (int64_t)process_at(ranks->tables, index)->start_ns)
        return NULL;
    return &ranks->list[ranks->of[index] - 1];
}

struct rank *ranks_of_pid(struct ranks *ranks, uint32_t pid)
{
    const struct table *table = &ranks->tables->table[ABI_TABLE_PROCESSES];

    for (uint32_t i = 1; i <= table->high && ranks->count; i++)
        if (ranks->of[i] && process_at(ranks->tables, i)->tgid == pid)
            return ranks_of(ranks, i);
    return NULL;
}

/* That of the parent, where both are of one job. */
static struct rank *rank_of_parent(struct ranks *ranks, const struct abi_process *process, uint32_t job)
{
    struct rank *rank = process->parent ? ranks_of_pid(ranks, process->parent) : NULL;

    return rank && !rank->stands_back && is_same(rank, process, job) ? rank : NULL;
}

static struct rank *make(struct ranks *ranks, uint32_t index, const struct abi_process *process, uint32_t job)
{
    uint32_t at = 0, limit = ranks->marked_only ? RANKS_MARKED_MAX : RANKS_MAX;
    struct rank *rank;
    char path[4096];

    while (at < ranks->count && ranks->list[at].used)
        at++;
    if (at >= limit)
        return NULL;
    rank = &ranks->list[at];
    *rank = (struct rank){.used = true, .index = index, .pid = process->tgid, .start_ns = (int64_t)process->start_ns,
                          .job = job, .uid = process->uid};
    memcpy(rank->command, process->comm, sizeof(process->comm));
    snprintf(path, sizeof(path), "%s/proc/%u/schedstat", ranks->root, process->tgid);
    rank->schedstat = open(path, O_RDONLY | O_CLOEXEC);
    if (at == ranks->count)
        ranks->count++;
    return rank;
}

/* 0, -EAGAIN when it is to be judged later, or -ENOMEM. */
static int judge(struct ranks *ranks, uint32_t index, int64_t now_ns)
{
    struct abi_process *process = process_at(ranks->tables, index);
    struct rank *rank;
    uint32_t job;
    bool marked;
    int err = finder_job(ranks->finder, index, process, &job);

    if (err)
        return err;
    rank = rank_of_parent(ranks, process, job);
    /* Of those that work for a marked one all inherit the variable. */
    if (!rank || (!rank->marked && !ranks->marked_only)) {
        if (ranks->marked_only && (now_ns - (int64_t)process->start_ns < SECOND_NS || !ranks->may_ask))
            return -EAGAIN;
        ranks->may_ask -= ranks->may_ask > 0;
        marked = is_marked(ranks, process->tgid);
        if (marked || (!rank && !ranks->marked_only))
            rank = make(ranks, index, process, job);
        if (rank && rank->index == index)
            rank->marked = marked;
    }
    ranks->of[index] = rank ? (uint16_t)(rank - ranks->list + 1) : 0;
    return 0;
}

static void release(struct ranks *ranks, const struct rank *rank)
{
    const struct table *table = &ranks->tables->table[ABI_TABLE_PROCESSES];
    uint16_t number = (uint16_t)(rank - ranks->list + 1);

    for (uint32_t i = 1; i <= table->high; i++)
        if (ranks->of[i] == number) {
            ranks->of[i] = 0;
            ranks->met[i].judged = false;
        }
}

void ranks_stand_back(struct ranks *ranks, struct rank *rank)
{
    release(ranks, rank);
    ranks->of[rank->index] = (uint16_t)(rank - ranks->list + 1);
    ranks->met[rank->index].judged = true;
    rank->stands_back = true;
}

/* A rank that is gone has reported all. Those that worked for it are anybody's. */
static void forget(struct ranks *ranks, struct rank *rank)
{
    release(ranks, rank);
    rank->used = false;
    while (ranks->count && !ranks->list[ranks->count - 1].used)
        ranks->count--;
}

static int by_start(const void *a, const void *b, void *context)
{
    const struct tables *tables = context;
    uint64_t x = process_at(tables, *(const uint32_t *)a)->start_ns;
    uint64_t y = process_at(tables, *(const uint32_t *)b)->start_ns;

    return ORDER(x, y);
}

/* Processes that have a thread in the table and have not been judged; each once. */
static uint32_t find_new(struct ranks *ranks, uint32_t *found)
{
    const struct table *threads = &ranks->tables->table[ABI_TABLE_THREADS];
    uint32_t processes = ranks->tables->table[ABI_TABLE_PROCESSES].entries, count = 0;

    for (uint32_t i = 1; i <= threads->high && count < AT_ONCE; i++) {
        uint32_t index = thread_at(ranks->tables, i)->process;
        const struct abi_process *process;
        struct met *met;

        if (!index || index >= processes)
            continue;
        process = process_at(ranks->tables, index);
        met = &ranks->met[index];
        if (met->start_ns != (int64_t)process->start_ns) {
            *met = (struct met){.start_ns = (int64_t)process->start_ns};
            ranks->of[index] = 0;
        }
        if (met->judged || !process->tgid || !is_alive(process))
            continue;
        met->judged = true; /* so that it is found once */
        found[count++] = index;
    }
    return count;
}

int ranks_find(struct ranks *ranks, int64_t now_ns)
{
    uint32_t found[AT_ONCE], count;

    for (uint32_t i = 0; i < ranks->count; i++) {
        struct rank *rank = &ranks->list[i];

        if (rank->used && rank->schedstat < 0 && !rank->watched_ns)
            forget(ranks, rank);
    }
    if (now_ns - ranks->second_ns >= SECOND_NS) {
        ranks->second_ns = now_ns;
        ranks->may_ask = ASK_SECOND;
    } else if (ranks->marked_only && !ranks->count) {
        return 0;
    }
    table_find_high(&ranks->tables->table[ABI_TABLE_PROCESSES]);
    table_find_high(&ranks->tables->table[ABI_TABLE_THREADS]);
    count = find_new(ranks, found);
    qsort_r(found, count, sizeof(*found), by_start, ranks->tables); /* parents first */
    for (uint32_t i = 0; i < count; i++) {
        int err = judge(ranks, found[i], now_ns);

        if (err)
            ranks->met[found[i]].judged = false;
        if (err && err != -EAGAIN)
            return err;
    }
    return 0;
}
