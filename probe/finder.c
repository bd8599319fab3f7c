/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/finder.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/utf8.h"
#include "probe/bpf/ownerabi.h"
#include "probe/container.h"
#include "probe/host.h"
#include "probe/names.h"
#include "probe/news.h"
#include "probe/procfile.h"
#include "probe/reader.h"
#include "probe/slurm.h"

#define ANCESTORS_MAX 16
#define TIDY_NS   600000000000LL
#define FORGET_NS 3600000000000LL

/* What a process was found by, and what came out: good as long as nothing of it changes. */
struct known {
    uint64_t start_ns, cgroup;
    uint32_t tgid, ticket, given, known;
    uint32_t job;
};

struct finder {
    struct origin *origin;
    struct news *news;
    struct slurm *slurm;
    struct reader *reader;
    struct names names;
    struct names labels;
    char *root, *own_job;
    struct known *processes;
    uint32_t count;
    int64_t tidied_ns;
};

int finder_check_names(const char *list, bool variables)
{
    struct names names = {0};
    int err = names_parse(list, variables ? NAMES_FIRST : NULL, &names);

    names_clear(&names);
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

/* slurmstepd and its like run as root, and are not what somebody's job is named by. */
static bool is_servant(const char *command)
{
    return strcmp(command, "slurmstepd") == 0 || strcmp(command, "runc:[2:INIT]") == 0 ||
           strcmp(command, "runc") == 0 || strcmp(command, "(sd-executor)") == 0;
}

/* The job by that identity, made when it is new, and completed by who the process is. */
static int found(struct finder *finder, const char *identity, const struct job *job, const struct abi_process *process,
                 uint32_t *id)
{
    char command[sizeof(process->comm) + 1] = "";
    uint32_t known = origin_seek(finder->origin, identity);
    struct job whole = *job;
    bool servant;
    int err;

    memcpy(command, process->comm, sizeof(process->comm));
    /* A node's prolog and epilog have the job's variables, run as root, and may be called anything; squeue knows whose
     * it is. */
    servant = is_servant(command) || (!process->uid && strcmp(job->kind, "slurm") == 0);
    whole.command = servant ? "" : command;
    whole.user = servant ? NULL : origin_user(finder->origin, process->uid);
    whole.exit = -1;
    err = known ? origin_fill(finder->origin, known, &(struct job){.user = whole.user, .command = whole.command})
                : origin_found(finder->origin, identity, &whole, &known);
    if (err)
        return err;
    if (!origin_find(finder->origin, known))
        return -ENOENT;
    *id = known;
    return 0;
}

static int slurm_job(struct finder *finder, const char *number, const struct abi_process *process, uint32_t *id)
{
    struct job job = {.name = number, .kind = "slurm"};
    char identity[CGROUP_ID_MAX + 8];
    bool fresh;
    int err;

    snprintf(identity, sizeof(identity), "slurm:%s", number);
    fresh = !origin_seek(finder->origin, identity);
    err = found(finder, identity, &job, process, id);
    if (!err && fresh)
        slurm_ask(finder->slurm, number, *id);
    return err;
}

static int launched_job(struct finder *finder, const char *launcher, const struct abi_process *process, uint32_t *id)
{
    char name[96], identity[112];
    struct job job = {.name = name, .kind = "command"};

    snprintf(name, sizeof(name), "%s/%s", origin_user(finder->origin, process->uid), launcher);
    snprintf(identity, sizeof(identity), "launcher:%s", name);
    return found(finder, identity, &job, process, id);
}

static int named_job(struct finder *finder, const struct news_ticket *ticket, const struct abi_process *process,
                     uint32_t *id)
{
    const char *variable = finder->names.name[ABI_TICKET_RANK(ticket->id)];
    char identity[ABI_TICKET_MAX + 8], name[ABI_TICKET_MAX];
    struct job job = {.name = name, .kind = "env"};

    snprintf(name, sizeof(name), "%s", ticket->value);
    utf8_one_line(name);
    if (strcmp(variable, "SLURM_JOB_ID") == 0 && strspn(name, "0123456789") == strlen(name))
        return slurm_job(finder, name, process, id);
    snprintf(identity, sizeof(identity), "env:%s", name);
    return found(finder, identity, &job, process, id);
}

static int pod_job(struct finder *finder, const struct cgroup_owner *owner, const struct abi_process *process,
                   uint32_t *id)
{
    char identity[CGROUP_ID_MAX + 8], name[2 * CONTAINER_NAME_MAX];
    struct job job = {.name = name, .kind = "kubernetes"};
    struct container_facts facts;
    struct label own[] = {{"namespace", NULL}, {"pod", NULL}};
    int err;

    snprintf(identity, sizeof(identity), "pod:%s", owner->id);
    if (origin_seek(finder->origin, identity))
        return found(finder, identity, &job, process, id);
    err = container_find(finder->root, owner, finder->labels.name, &facts);
    if (err)
        return err;
    utf8_one_line(facts.namespace);
    utf8_one_line(facts.pod);
    if (*facts.namespace && *facts.pod)
        snprintf(name, sizeof(name), "%s/%s", facts.namespace, facts.pod);
    else
        snprintf(name, sizeof(name), "%s", owner->id);
    own[0].value = facts.namespace;
    own[1].value = facts.pod;
    job.labels = own;
    job.label_count = *facts.namespace && *facts.pod ? 2 : *facts.namespace ? 1 : 0;
    err = found(finder, identity, &job, process, id);
    if (!err)
        err = origin_fill(finder->origin, *id, &(struct job){.labels = facts.labels, .label_count = facts.label_count});
    container_clear(&facts);
    return err;
}

static int container_job(struct finder *finder, const struct cgroup_owner *owner, const struct abi_process *process,
                         uint32_t *id)
{
    char identity[CGROUP_ID_MAX + 16], name[CGROUP_ID_MAX];
    struct label own[] = {{"container", owner->id}, {"runtime", owner->runtime}};
    struct job job = {.name = name, .kind = "container", .labels = own, .label_count = owner->runtime ? 2 : 1};
    struct container_facts facts;
    int err;

    snprintf(identity, sizeof(identity), "container:%s", owner->id);
    if (origin_seek(finder->origin, identity))
        return found(finder, identity, &job, process, id);
    err = container_find(finder->root, owner, finder->labels.name, &facts);
    if (err)
        return err;
    snprintf(name, sizeof(name), "%.*s", owner->runtime && strcmp(owner->runtime, "lxc") == 0 ? 200 : 12, owner->id);
    if (*facts.name)
        snprintf(name, sizeof(name), "%s", facts.name);
    utf8_one_line(name);
    err = found(finder, identity, &job, process, id);
    if (!err)
        err = origin_fill(finder->origin, *id, &(struct job){.labels = facts.labels, .label_count = facts.label_count});
    container_clear(&facts);
    return err;
}

static int unit_job(struct finder *finder, const struct cgroup_owner *owner, const struct abi_process *process,
                    uint32_t *id)
{
    char identity[CGROUP_ID_MAX + 8], name[CGROUP_ID_MAX];
    struct job job = {.name = name, .kind = "systemd"};

    snprintf(name, sizeof(name), "%s", owner->id);
    utf8_one_line(name);
    snprintf(identity, sizeof(identity), "unit:%s", name);
    return found(finder, identity, &job, process, id);
}

static int owner_job(struct finder *finder, const struct cgroup_owner *owner, const struct abi_process *process,
                     uint32_t *id)
{
    switch (owner->kind) {
    case CGROUP_SLURM:
        return slurm_job(finder, owner->id, process, id);
    case CGROUP_POD:
        return pod_job(finder, owner, process, id);
    case CGROUP_CONTAINER:
        return container_job(finder, owner, process, id);
    case CGROUP_UNIT:
        return unit_job(finder, owner, process, id);
    case CGROUP_OTHER:
        break;
    }
    *id = 0;
    return 0;
}

/* Whether what /proc said of a number was said of this process, and not of another that has it now. */
static bool is_alive(const struct abi_process *process)
{
    return !__atomic_load_n(&process->exited, __ATOMIC_ACQUIRE);
}

static int cgroup_job(struct finder *finder, const struct abi_process *process, uint32_t *id)
{
    struct news_cgroup *cgroup = process->cgroup ? news_cgroup(finder->news, process->cgroup) : NULL;
    _cleanup_free_ char *text = NULL;
    struct cgroup_owner owner;
    int err;

    if (cgroup && cgroup->job != NEWS_UNKNOWN && (!cgroup->job || origin_find(finder->origin, cgroup->job))) {
        *id = cgroup->job;
        if (*id && !origin_find(finder->origin, *id)->user) /* so far there were only servants */
            cgroup->job = NEWS_UNKNOWN;
        else
            return 0;
    }
    if (cgroup) {
        cgroup_parse(cgroup->path, &owner);
    } else {
        if (!is_alive(process) || host_read(finder->root, &text, NULL, "/proc/%u/cgroup", process->tgid) ||
            !is_alive(process))
            return 0; /* nobody can tell any more */
        cgroup_parse_lines(text, &owner);
    }
    err = owner_job(finder, &owner, process, id);
    if (!err && cgroup)
        cgroup->job = *id;
    return err;
}

/* The environment of a process that began before the probe did. */
static int read_environment(struct finder *finder, const struct abi_process *process, uint32_t *ticket)
{
    _cleanup_free_ char *text = NULL;
    struct reader_file file;
    const char *value;
    char path[64];
    unsigned rank;
    int err;

    snprintf(path, sizeof(path), "/proc/%u/environ", process->tgid);
    err = is_alive(process) ? reader_read(finder->reader, path, &file) : -ESRCH;
    if (!err)
        text = file.text;
    if (err == -ETIMEDOUT)
        return 0; /* it hangs, and its cgroup has to do */
    if (err || !is_alive(process))
        return err == -ENOMEM ? err : -ESRCH;
    value = procfile_variable(text, file.size, finder->names.name, finder->names.count, &rank);
    return value ? news_add_ticket(finder->news, rank, value, ticket) : 0;
}

static bool read_stat(const struct finder *finder, uint32_t tgid, struct procfile_stat *stat)
{
    _cleanup_free_ char *text = NULL;

    return host_read(finder->root, &text, NULL, "/proc/%u/stat", tgid) == 0 && procfile_stat(text, stat);
}

/* A launcher among its ancestors, each older than what it has launched: a number may be somebody else's by now. */
static void look_up_launcher(const struct finder *finder, const struct abi_process *process, uint32_t *ticket)
{
    uint64_t start_ticks = process->start_ns / 10000000 + 1; /* of 10 ms, whatever the kernel's own are */
    uint32_t tgid = process->tgid;
    struct procfile_stat stat;

    for (int i = 0; i < ANCESTORS_MAX && tgid > 1 && read_stat(finder, tgid, &stat); i++) {
        unsigned which;

        if (stat.start_ticks > start_ticks)
            return;
        if (names_launcher(stat.command, &which)) {
            *ticket = ABI_TICKET(which, ABI_RANK_LAUNCHER);
            return;
        }
        start_ticks = stat.start_ticks;
        tgid = stat.parent;
    }
}

/* What the kernel side could not note: the process was there before it. */
static int look_back(struct finder *finder, struct abi_process *process)
{
    uint32_t ticket = 0;
    int err = read_environment(finder, process, &ticket);

    if (err)
        return err == -ENOMEM ? err : 0;
    if (!ticket)
        look_up_launcher(finder, process, &ticket);
    if (!is_alive(process))
        return 0;
    process->ticket = ticket;
    process->known = 1;
    return 0;
}

static int find_new(struct finder *finder, struct abi_process *process, uint32_t given, uint32_t *job)
{
    struct news_ticket *ticket = process->ticket ? news_ticket(finder->news, process->ticket) : NULL;
    const char *launcher = ABI_TICKET_RANK(process->ticket) == ABI_RANK_LAUNCHER
                               ? names_launcher_name(process->ticket >> ABI_RANK_BITS)
                               : NULL;
    int err;

    *job = given;
    if (ticket && ABI_TICKET_RANK(ticket->id) == 0 && finder->own_job && given &&
        strcmp(ticket->value, finder->own_job) == 0)
        return 0;
    if (given && (!ticket || ABI_TICKET_RANK(ticket->id) != 0))
        return 0;
    if (ticket && ABI_TICKET_RANK(ticket->id) < finder->names.count) {
        /* torchrun without a name for its run */
        if (strcmp(finder->names.name[ABI_TICKET_RANK(ticket->id)], "TORCHELASTIC_RUN_ID") != 0 ||
            strcmp(ticket->value, "none") != 0)
            return named_job(finder, ticket, process, job);
        launcher = "torchrun";
    }
    err = cgroup_job(finder, process, job);
    if (!err && !*job && launcher)
        err = launched_job(finder, launcher, process, job);
    return err;
}

int finder_job(struct finder *finder, uint32_t index, struct abi_process *process, uint32_t *job)
{
    struct known *known = index < finder->count ? &finder->processes[index] : NULL, now;
    uint32_t before = __atomic_load_n(&process->job, __ATOMIC_RELAXED);
    int err;

    if (!process->ticket && !process->known) {
        err = look_back(finder, process);
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

bool finder_own_job(const char *job_env, const char **kind, const char **name)
{
    struct names names = {0};
    bool found = false;

    if (names_parse(job_env ? job_env : FINDER_JOB_ENV, NAMES_FIRST, &names))
        return false;
    for (unsigned i = 0; !found && i < names.count; i++) {
        const char *value = getenv(names.name[i]);

        found = value && *value && !(strcmp(names.name[i], "TORCHELASTIC_RUN_ID") == 0 && strcmp(value, "none") == 0);
        if (!found)
            continue;
        *kind = strcmp(names.name[i], "SLURM_JOB_ID") == 0 ? "slurm" : "env";
        *name = value;
    }
    names_clear(&names);
    return found;
}
