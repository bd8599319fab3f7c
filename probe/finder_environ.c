/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What environments say: of a process that began before the probe, where its ancestors are asked too; and our own. */
#include "probe/finder_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/host.h"
#include "probe/procfile.h"

#define ANCESTORS_MAX 16

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

/* A launcher among its ancestors, each older than what it has launched: a number may be somebody else's by now. */
static void look_up_launcher(const struct finder *finder, const struct abi_process *process, uint32_t *ticket)
{
    uint64_t start_ticks = process->start_ns / PROCFILE_TICK_NS + 1;
    uint32_t tgid = process->tgid;
    struct procfile_stat stat;

    for (int i = 0; i < ANCESTORS_MAX && tgid > 1 && procfile_read_stat(finder->root, tgid, &stat); i++) {
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
int finder_look_back(struct finder *finder, struct abi_process *process)
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
