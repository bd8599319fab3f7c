/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe: loads the BPF programs, attaches them, gives processes their jobs, and hands out what has
 * happened since the last time as records. One probe a process; not thread safe.
 */
#ifndef UNBLEND_PROBE_PROBE_H
#define UNBLEND_PROBE_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/record.h"
#include "probe/flavour.h"

#define PROBE_MEMORY_DEFAULT (64ull << 20)
#define PROBE_MEMORY_MIN     (4ull << 20)
#define PROBE_LOOK_MS        100
#define PROBE_BURST_FACTOR   2

/* Why something is not watched for now. */
#define PROBE_TOO_DEAR "watching cost more than --max-cost allows"

struct probe;

/* How much is watched. Each step leaves out what the one before still saw, and more. */
enum probe_step {
    PROBE_FULL,          /* everything, by process */
    PROBE_JOB_KEYS,      /* by job; where transfers start is not kept */
    PROBE_METADATA_ONLY, /* without reads, writes, seeks, page faults and the block layer */
    PROBE_DETACHED,      /* no operation at all; only who belongs to which job */
};

struct probe_options {
    bool all;        /* every process of the node; else only those given a job, and their descendants */
    bool pseudo;     /* count operations on proc, sysfs and their like too */
    uint64_t memory; /* bytes of kernel memory; 0 is PROBE_MEMORY_DEFAULT */
    unsigned tree_depth;   /* tell operations by tree, of so many folders (TREE_DEPTH_MAX at most); 0: do not */
    uint64_t burst_factor; /* see lib/flow.h; 0 is PROBE_BURST_FACTOR */
    struct flavour_list flavours; /* the only ones to be tried; empty: whatever is best */
    const char *platform_metrics; /* a file with a storage system's own counters (probe/platform_file.h); NULL: none */
    const char *node; /* the name that local volumes carry; NULL is the host's name */
    const char *root, *job_env, *pod_labels, *own_job; /* as in probe/finder.h */
    const char *instead; /* what would do, too, for who has no rights: ends the complaint about that; NULL: nothing */
};

/*
 * Loads and attaches. 0 or -errno, after one line on stderr that says what to do. What the kernel does not have
 * is no failure: it is listed in the coverage of every batch.
 */
int probe_new(const struct probe_options *options, struct probe **out);

/* Detaches everything. NULL is fine. */
void probe_free(struct probe *probe);

/*
 * Gives a process (a thread group's leader that is alive and has done nothing yet that should count) and
 * all that it forks from now on a job. The job's strings are copied; job->name must be new. 0 or -errno.
 */
int probe_adopt(struct probe *probe, pid_t pid, const struct job *job, uint32_t *id);

/* The job's command has ended: its exit status as a shell gives it. */
void probe_job_exit(struct probe *probe, uint32_t id, int status, int64_t end_ns);

/* How many processes of a job are alive; never 0 while there is one, and too many where the table is full. */
unsigned probe_job_living(struct probe *probe, uint32_t id);

/* To be called between drains, about each PROBE_LOOK_MS. 0 or -errno. */
int probe_look(struct probe *probe);

/*
 * Adds what has happened since the last drain to a batch: records with process detail, the tables they need, and
 * the coverage. Interval and identity are the caller's. 0 or -errno.
 */
int probe_drain(struct probe *probe, struct batch *batch);

/* How finely batches shall tell who did something, from the next drain on: by process at first. By job, a drain is
   cheaper where there are many. By thread, what belongs to none (io_uring, libaio) is its process's, of tid 0. */
void probe_set_grain(struct probe *probe, enum grain grain);

/*
 * Watches so much from now on; what was counted before is drained as ever. Coverage says what is left out, and an
 * operation that nobody saw begin is not counted at its end. 0 or -errno: then something stays detached, and
 * coverage says that.
 */
int probe_set_step(struct probe *probe, enum probe_step step);

/* Watches who waits for I/O, see probe/stall.h, as long as the probe is there. 0 or -ENOMEM. */
struct stalls;
int probe_stalls(struct probe *probe, bool everything, struct stalls **out);

/* How long the programs have run, as far as the kernel was measuring it. */
uint64_t probe_run_ns(const struct probe *probe);

/* A descriptor that has POLLPRI when mounts have changed; then call probe_mounts_changed() soon. */
int probe_mount_fd(const struct probe *probe);
void probe_mounts_changed(struct probe *probe);

/* For probe/doctor.c: as probe_new(), without a word on stderr; *out is set in case of failure, too, unless there is no
   memory, and what was loaded can be asked why. */
int probe_try(const struct probe_options *options, struct probe **out);

struct loaded;
const struct loaded *probe_loaded(const struct probe *probe);

#endif
