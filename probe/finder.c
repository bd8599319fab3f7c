/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "probe/finder_parts.h"
#include "probe/host.h"

#define TIDY_NS   600000000000LL
#define FORGET_NS 3600000000000LL

int finder_check_names(const char *list, bool variables)
{
    struct names names = {0};
    int err = names_parse(list, variables ? NAMES_FIRST : NULL, &names);

    names_clear(&names);
    return err;
}

int finder_check_root(const char *from, const char *root)
{
    struct stat st;
    int err = stat(root, &st) ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;

    if (err)
        log_error("%sroot %s: %s", from, root, log_why(err));
    return err;
}

static int read_proc(const char *root, const char *path, struct reader_file *file)
{
    return host_read(root, &file->text, &file->size, "%s", path);
}

int finder_new(const struct finder_options *options, struct origin *origin, struct finder **out)
{
    struct finder *finder = calloc(1, sizeof(*finder));
    const char *root = options->root ? options->root : "";
    int err;

    if (!finder)
        return -ENOMEM;
    finder->origin = origin;
    finder->root = strdup(root);
    finder->own_job = options->own_job ? strdup(options->own_job) : NULL;
    finder->count = options->processes;
    finder->processes = calloc(finder->count ? finder->count : 1, sizeof(*finder->processes));
    finder->tidied_ns = monotonic_ns();
    err = finder->root && finder->processes && (finder->own_job || !options->own_job) ? 0 : -ENOMEM;
    if (!err)
        err = names_parse(options->job_env ? options->job_env : FINDER_JOB_ENV, NAMES_FIRST, &finder->names);
    if (!err && options->pod_labels && *options->pod_labels)
        err = names_parse(options->pod_labels, NULL, &finder->labels);
    if (!err)
        err = names_tell(&finder->names, options->names_map);
    if (!err)
        err = news_new(options->cgroups_map, options->tickets_map, root, &finder->news);
    if (!err)
        err = slurm_new(&finder->slurm);
    if (!err)
        err = reader_new(root, read_proc, &finder->reader);
    if (err) {
        finder_free(finder);
        return err;
    }
    *out = finder;
    return 0;
}

void finder_free(struct finder *finder)
{
    if (!finder)
        return;
    news_free(finder->news);
    slurm_free(finder->slurm);
    reader_free(finder->reader);
    names_clear(&finder->names);
    names_clear(&finder->labels);
    free(finder->root);
    free(finder->own_job);
    free(finder->processes);
    free(finder);
}

int finder_fetch(struct finder *finder)
{
    struct slurm_answer answer;

    if (slurm_poll(finder->slurm, &answer)) {
        const struct label labels[] = {{"account", answer.account}, {"partition", answer.partition}};
        const struct job more = {.command = "", .user = answer.user, .labels = labels, .label_count = 2};
        int err = origin_fill(finder->origin, answer.tag, &more);

        if (err)
            return err;
    }
    return news_fetch(finder->news);
}

/* Whoever has given the job may have the variable himself: then it says nothing of those who inherit it. */
static bool is_own(const struct finder *finder, const struct news_ticket *ticket)
{
    return ABI_TICKET_RANK(ticket->id) == 0 && finder->own_job && strcmp(ticket->value, finder->own_job) == 0;
}

int finder_outranking_job(struct finder *finder, uint32_t given, uint32_t ticket, uint32_t *job)
{
    struct news_ticket *news = news_ticket(finder->news, ticket);
    int err;

    *job = given;
    if (!news || is_own(finder, news))
        return 0;
    err = finder_named_job(finder, news, NULL, job);
    return err == -ENOENT ? 0 : err;
}

static int find_new(struct finder *finder, struct abi_process *process, uint32_t given, uint32_t *job)
{
    struct news_ticket *ticket = process->ticket ? news_ticket(finder->news, process->ticket) : NULL;
    const char *launcher = ABI_TICKET_RANK(process->ticket) == ABI_RANK_LAUNCHER
                               ? names_launcher_name(process->ticket >> ABI_RANK_BITS)
                               : NULL;
    int err;

    *job = given;
    if (given && ticket && is_own(finder, ticket))
        return 0;
    if (given && (!ticket || ABI_TICKET_RANK(ticket->id) != 0))
        return 0;
    if (ticket && ABI_TICKET_RANK(ticket->id) < finder->names.count) {
        /* torchrun without a name for its run */
        if (strcmp(finder->names.name[ABI_TICKET_RANK(ticket->id)], "TORCHELASTIC_RUN_ID") != 0 ||
            strcmp(ticket->value, "none") != 0)
            return finder_named_job(finder, ticket, process, job);
        launcher = "torchrun";
    }
    err = finder_cgroup_job(finder, process, job);
    if (!err && !*job && launcher)
        err = finder_launched_job(finder, launcher, process, job);
    return err;
}

int finder_job(struct finder *finder, uint32_t index, struct abi_process *process, uint32_t *job)
{
    struct known *known = index < finder->count ? &finder->processes[index] : NULL, now;
    uint32_t before = __atomic_load_n(&process->job, __ATOMIC_RELAXED);
    int err;

    if (!process->ticket && !process->known) {
        err = finder_look_back(finder, process);
        if (err)
            return err;
    }
    now = (struct known){.start_ns = process->start_ns, .cgroup = process->cgroup, .tgid = process->tgid,
                         .ticket = process->ticket, .given = before & ABI_JOB_FOUND ? 0 : before,
                         .known = process->known};
    if (known && known->tgid == now.tgid && known->start_ns == now.start_ns && known->cgroup == now.cgroup &&
        known->ticket == now.ticket && known->given == now.given && known->known == now.known &&
        (!known->job || origin_find(finder->origin, known->job))) {
        *job = known->job;
        return 0;
    }
    err = find_new(finder, process, now.given, &now.job);
    if (err == -ENOENT)
        *job = 0;
    if (err)
        return err == -ENOENT ? 0 : err;
    if (known)
        *known = now;
    /* Its children, and the block layer, have it from now on, unless it has become another's meanwhile. */
    if (now.job & ABI_JOB_FOUND && !now.given && is_alive(process))
        __atomic_compare_exchange_n(&process->job, &before, now.job, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    *job = now.job;
    return 0;
}

void finder_tidy(struct finder *finder, const struct abi_process *table, uint32_t count)
{
    int64_t now = monotonic_ns();

    if (now - finder->tidied_ns < TIDY_NS)
        return;
    finder->tidied_ns = now;
    for (uint32_t i = 0; i < count; i++) {
        const struct abi_process *process = &table[i];

        if (!process->tgid)
            continue;
        origin_use(finder->origin, process->job, now);
        if (i < finder->count && finder->processes[i].tgid == process->tgid)
            origin_use(finder->origin, finder->processes[i].job, now);
        if (process->cgroup)
            (void)news_cgroup(finder->news, process->cgroup);
        if (process->ticket)
            (void)news_ticket(finder->news, process->ticket);
    }
    (void)news_forget(finder->news, now - FORGET_NS); /* without memory, more is forgotten and found again */
    (void)origin_forget(finder->origin, now - FORGET_NS);
}
