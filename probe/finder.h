/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Process -> job. In this order: UNBLEND_JOB in its environment; the job that it was given, or that an ancestor was;
 * another variable that was asked for; its cgroup (Slurm, Kubernetes, a container, a systemd unit); the launcher of
 * ranks that it descends from (mpirun, torchrun). What is left is its user's and its command's.
 *
 * The kernel side notes cgroup and variable while the process lives, and children inherit them; of processes from
 * before the probe, /proc is asked. So a process that has gone has its job still.
 */
#ifndef UNBLEND_PROBE_FINDER_H
#define UNBLEND_PROBE_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record.h"
#include "probe/bpf/abi.h"
#include "probe/origin.h"

#define FINDER_JOB_MAX 123 /* bytes of a job's name that count */
#define FINDER_JOB_ENV "SLURM_JOB_ID,TORCHELASTIC_RUN_ID,TRAINING_JOB_NAME"

struct finder;

struct finder_options {
    const char *root;       /* as in probe/host.h; NULL: "" */
    const char *job_env;    /* variables behind UNBLEND_JOB, with commas; NULL: FINDER_JOB_ENV */
    const char *pod_labels; /* labels of pods to keep, with commas; NULL: none */
    const char *own_job;    /* UNBLEND_JOB of whoever gives jobs: it takes no process from the job it was given */
    uint32_t processes;     /* indices are below this */
    int names_map, tickets_map, cgroups_map; /* of the kernel side; -1 (tests): none */
};

/* Whether a list of variables or labels can be used. 0 or -EINVAL. */
int finder_check_names(const char *list, bool variables);

/* Whether there is such a directory; from, as option_from() has it, begins the complaint. 0 or -errno, logged. */
int finder_check_root(const char *from, const char *root);

/* The origin must outlive it; the kernel side knows the names from now on. 0, -EINVAL for job_env, or -errno. */
int finder_new(const struct finder_options *options, struct origin *origin, struct finder **out);
void finder_free(struct finder *finder); /* NULL is fine */

/* Fetches what the kernel side has noted; to be called often. 0 or -ENOMEM. */
int finder_fetch(struct finder *finder);

/* The job of the process at an index of the table; 0 where user and command name it. 0 or -ENOMEM. */
int finder_job(struct finder *finder, uint32_t index, struct abi_process *process, uint32_t *job);

/* The job of processes that were given one, and have a ticket of the first rank (abi_process.ticket). 0 or -ENOMEM. */
int finder_outranking_job(struct finder *finder, uint32_t given, uint32_t ticket, uint32_t *job);

/* Forgets jobs that no process of the table has had for an hour; looks at it now and then only. */
void finder_tidy(struct finder *finder, const struct abi_process *table, uint32_t count);

/* The job that whoever starts a command has from his own environment: kind and name, where a variable of the list names
   one; *name points into the environment. False when none does. */
bool finder_own_job(const char *job_env, const char **kind, const char **name);

#endif
