/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a finder is made of, for those who keep what probe/finder.h promises: finder.c, which asks in turn;
 * finder_environ.c, what environments say, or the ancestors of a process; finder_jobs.c, whose job that is.
 */
#ifndef UNBLEND_PROBE_FINDER_PARTS_H
#define UNBLEND_PROBE_FINDER_PARTS_H

#include "probe/bpf/ownerabi.h"
#include "probe/finder.h"
#include "probe/names.h"
#include "probe/news.h"
#include "probe/reader.h"
#include "probe/slurm.h"
#include "probe/tables.h"

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

/* Fills in the ticket of a process that was there before the kernel side could note it. 0, also where it is gone or
   hangs, or -ENOMEM. */
int finder_look_back(struct finder *finder, struct abi_process *process);

/* The job of a variable's value (process: one of it, or NULL), of a cgroup, of a launcher's ranks; made when it is new. *id is 0 where a cgroup is
   nobody's, and stays as it is where nobody can tell any more. 0, -ENOMEM, or -ENOENT: it is there no more. */
int finder_named_job(struct finder *finder, const struct news_ticket *ticket, const struct abi_process *process,
                     uint32_t *id);
int finder_cgroup_job(struct finder *finder, const struct abi_process *process, uint32_t *id);
int finder_launched_job(struct finder *finder, const char *launcher, const struct abi_process *process, uint32_t *id);

#endif
