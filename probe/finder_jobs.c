/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job that a name stands for: a variable's value, a cgroup's owner, a launcher's ranks. */
#include "probe/finder_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/utf8.h"
#include "probe/container.h"
#include "probe/host.h"

static_assert(FINDER_JOB_MAX == ABI_TICKET_MAX - 1, "what is given is as long as what is found");

/* slurmstepd and its like run as root, and are not what somebody's job is named by. */
static bool is_servant(const char *command)
{
    return strcmp(command, "slurmstepd") == 0 || strcmp(command, "runc:[2:INIT]") == 0 ||
           strcmp(command, "runc") == 0 || strcmp(command, "(sd-executor)") == 0;
}

/* The job by that identity, made when it is new, and completed by who the process is (NULL: left to the next one). */
static int found(struct finder *finder, const char *identity, const struct job *job, const struct abi_process *process,
                 uint32_t *id)
{
    char command[sizeof(process->comm) + 1] = "";
    uint32_t known = origin_seek(finder->origin, identity);
    struct job whole = *job;
    bool servant;
    int err;

    if (process)
        memcpy(command, process->comm, sizeof(process->comm));
    /* A node's prolog and epilog have the job's variables, run as root, and may be called anything; squeue knows whose
     * it is. */
    servant = !process || is_servant(command) || (!process->uid && strcmp(job->kind, "slurm") == 0);
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

int finder_launched_job(struct finder *finder, const char *launcher, const struct abi_process *process, uint32_t *id)
{
    char name[96], identity[112];
    struct job job = {.name = name, .kind = "command"};

    snprintf(name, sizeof(name), "%s/%s", origin_user(finder->origin, process->uid), launcher);
    snprintf(identity, sizeof(identity), "launcher:%s", name);
    return found(finder, identity, &job, process, id);
}

int finder_named_job(struct finder *finder, const struct news_ticket *ticket, const struct abi_process *process,
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

/* The same, of which a container's facts are known: these are labels, too, and are cleared. */
static int found_labelled(struct finder *finder, const char *identity, const struct job *job,
                          struct container_facts *facts, const struct abi_process *process, uint32_t *id)
{
    int err = found(finder, identity, job, process, id);

    if (!err)
        err = origin_fill(finder->origin, *id,
                          &(struct job){.labels = facts->labels, .label_count = facts->label_count});
    container_clear(facts);
    return err;
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
    return found_labelled(finder, identity, &job, &facts, process, id);
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
    return found_labelled(finder, identity, &job, &facts, process, id);
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

int finder_cgroup_job(struct finder *finder, const struct abi_process *process, uint32_t *id)
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
