/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batches in, totals out: by job, by job and volume, by volume, of the cluster; and, where records
 * carry processes, by process. Memory depends on how many of these there are and on the length of
 * the span (bounded by series.h), never on how many batches were read. Sums do not depend on how
 * records were grouped into batches, so a recording and a database that hold the same records give
 * the same totals.
 */
#ifndef UNBLEND_ANALYZER_AGGREGATE_H
#define UNBLEND_ANALYZER_AGGREGATE_H

#include <stdio.h>

#include "analyzer/backend.h"
#include "analyzer/burst.h"
#include "analyzer/busy.h"
#include "analyzer/concert.h"
#include "analyzer/feature.h"
#include "analyzer/filling.h"
#include "analyzer/forest.h"
#include "analyzer/kinds.h"
#include "analyzer/overlap.h"
#include "analyzer/presence.h"
#include "analyzer/series.h"
#include "analyzer/twice.h"
#include "analyzer/windows.h"
#include "analyzer/working.h"
#include "lib/lookup.h"
#include "lib/record.h"

#define AGGREGATE_UNITS_MAX                                                                        \
    20000 /* a job's processes, by volume, that are kept apart; the others stay in the volume's rest */

struct attempt {
    const char *node;
    int64_t start_ns; /* 0 when not known */
    int64_t end_ns;   /* 0 while it runs */
    int32_t exit;     /* -1 when not known */
};

/* What was in flight at the end of a node's latest interval that had such operations in flight. */
struct gauge {
    const char *node; /* the same string as in nodes, which get sorted */
    enum operation op;
    int64_t end_ns;
    uint64_t count, oldest_ns, sum_ns;
};

#define STUCK_NS 1000000000 /* what has been in flight for longer is stuck */

/* A process that hangs in an operation; see stuck_now(). */
struct stuck {
    const char *node, *command;
    uint32_t pid;
    int64_t start_ns, end_ns; /* the process's start, the interval's end */
    enum operation op;
    uint64_t count, oldest_ns;
};

/* Which layer tells of a node's requests. */
struct teller {
    const char *node; /* that of its struct node_total */
    enum layer layer;
};

struct volume_total {
    const char *name, *source, *fstype, *lower;
    enum scope scope;
    const char **mounts;
    uint32_t mount_count, mount_capacity;
    struct gauge *gauges;
    uint32_t gauge_count, gauge_capacity;
    struct stuck *stuck;
    uint32_t stuck_count, stuck_capacity;
    uint32_t in_flight_max[OP_FILE_END]; /* on any one node; of all kinds at [OP_NONE] */
    bool looked; /* the maxima are known */
    struct tally tally; /* once it is sorted */
    struct tally rest;  /* of a job's volume: what belongs to no process, or to more than are kept apart */
    struct concert concert; /* when what of it is of the file layer was read and written */
    struct series series;  /* what programs asked for */
    struct windows windows;
    struct working working;
    struct forest forest;
    struct series busy;    /* time inside operations, see busy_of() */
    struct kinds kinds;    /* the same by what compares; of jobs' volumes only */
    /* Of the cluster's volumes only: what the block layer was asked for, or a file system's server or platform, as the
       first of its layers to speak on each node tells; and the time in it. */
    struct series reached, reached_busy;
    enum layer reached_layer; /* the first of all */
    bool reached_known;
    struct teller *tellers;
    uint32_t teller_count, teller_capacity;
    struct lookup teller_index;
    struct filling filling; /* of the cluster's volumes */
};

/* How a process goes about it, on all its volumes. */
struct manner {
    bool serves; /* a file system of others, in user space */
    int64_t start_ns; /* of an interval, what it read in it so far, and whether it wrote: */
    uint64_t read;
    bool wrote;
    uint64_t all, reworked; /* bytes that it read, and those of intervals in which it wrote */
};

/* Where totals are by volume: a process, of which each volume has a part. */
struct actor {
    uint32_t pid;
    int64_t start_ns;
    const char *node;
    uint32_t home; /* the job that it is of: among the homes */
    struct manner manner;
};

/* A job; of those that are no groups, and have no totals, as the totals are by volume. */
struct home {
    const char *cluster, *name;
    const char *node; /* NULL for jobs that may run on several nodes */
};

/* What a process did on a volume. */
struct unit {
    uint32_t pid;
    const char *volume; /* the same string as in the job's volumes */
    uint32_t process; /* the process's first unit */
    int64_t start_ns;
    int64_t first_ns, last_ns; /* from the start of its first interval to the end of its last one */
    int64_t interval_ns; /* the longest of them */
    struct presence presence[BUSY_KINDS];
    struct manner manner; /* a process's, in its first unit */
    uint32_t actor;       /* where totals are by volume: among the totals'; the manner is there, too, and here once they are sorted */
    const char *node;
    const char *command;
    struct tally tally;
};

struct job_total {
    const char *cluster, *name, *kind, *user, *command;
    const char *node; /* NULL for jobs that may run on several nodes */
    struct label *labels;
    uint32_t label_count;
    const char **nodes;
    uint32_t node_count, node_capacity;
    struct attempt *attempts;
    uint32_t attempt_count, attempt_capacity;
    struct volume_total *volumes;
    uint32_t volume_count, volume_capacity;
    struct unit *units;
    uint32_t unit_count, unit_capacity;
    struct lookup unit_index;
    uint32_t process_count; /* those of the units */
    uint64_t watched_ns, exposed_ns; /* as of struct job, of all nodes */
    struct gpu_time gpu;
    struct tally tally;     /* once it is sorted */
    struct series series;
    struct windows windows;
};

/* The volume of that name, of a job or of all; NULL for none. */
struct volume_total *volume_named(struct volume_total *volumes, uint32_t count, const char *name);

struct node_total {
    const char *cluster, *node, *role, *kernel;
    int64_t last_ns; /* end of its latest interval */
    uint64_t in_flight;
    uint64_t seq;              /* of the latest interval */
    bool set_back;             /* its clock was: intervals of a stream do not follow each other in time as they were made */
    char stream[40], boot[40]; /* of that one; "" where batches have none, as those of a database */
    struct pressure pressure; /* of all its intervals of which it is known, */
    uint64_t pressure_of_ns;  /* which are that long; 0: of none */
    const char **missing; /* hooks that it did without: the same strings as in hooks */
    uint32_t missing_count, missing_capacity;
};

/* What share of the time in which it is known one of its pressures is; NAN for none. */
double node_pressure(const struct node_total *node, uint64_t ns);

/* By how much its latest interval ends after now, and so its clock is wrong, or ours; 0: by less than a minute. */
int64_t node_ahead_ns(const struct node_total *node, int64_t now_ns);

struct hook_total {
    const char *name;
    const char *why; /* of a missing one; else what the nodes say about it, or NULL */
    bool missing;    /* on at least one node */
    uint32_t node_count; /* so many did without it */
    const char *told;    /* why, and on which of several nodes; sorted */
};

struct bypass_total {
    const char *what, *device, *why;
};

/* What stands for "job": the job, or what jobs are to be added up by. */
enum grouping {
    GROUP_JOB,
    GROUP_USER,
    GROUP_NODE,
    GROUP_VOLUME,
    GROUP_LABEL,
};

struct aggregate {
    struct arena arena;
    enum grouping grouping;
    const char *label; /* the one to group by */

    int64_t start_ns,
        end_ns;           /* first interval's start, last interval's end; both 0 without batches */
    int64_t told_ns; /* start of the first batch with flows; 0 without any */
    bool midway;     /* some node's first batch is not its probe's first */
    uint32_t interval_ms; /* the longest nominal interval */
    uint64_t batches;
    struct node_total *nodes;
    uint32_t node_count, node_capacity;
    struct lookup node_index;
    struct job_total *jobs;
    uint32_t job_count, job_capacity;
    struct lookup job_index;
    struct actor *actors; /* where totals are by volume, */
    uint32_t actor_count, actor_capacity;
    struct lookup actor_index;
    struct home *homes; /* and the jobs that they are of */
    uint32_t home_count, home_capacity;
    struct lookup home_index;
    struct volume_total *volumes; /* of the cluster */
    uint32_t volume_count, volume_capacity;
    struct volume_total shared; /* all shared ones together; has no name and no tally */
    struct tally tally; /* once it is sorted */
    struct series series;
    struct windows windows;
    struct watched watched; /* by anybody */
    struct overlap overlap;
    bool has_processes; /* some batch had */
    bool has_trees;

    uint64_t lost, killed, unattributed, overflow;
    uint64_t shed_ms[SHED_COUNT]; /* of all nodes */
    struct twice dropped; /* ranges that were said */
    uint64_t dropped_batches, dropped_ops; /* on their way to the collector; the operations are in lost, too */
    bool dropped_unknown;                  /* of some, nobody can tell how many operations they had */
    uint64_t unwatched_ns; /* between recordings of a node; of all nodes */
    uint64_t twice_ns;     /* that several recordings of a node have */
    struct hook_total *hooks;
    uint32_t hook_count, hook_capacity;
    struct bypass_total *bypasses;
    uint32_t bypass_count, bypass_capacity;
    struct backends backends; /* the storage side */
};

/* Adds a batch, which stays the caller's. 0, -ENOMEM, -EINVAL, -ERANGE; the totals are then of no
 * use. */
int aggregate_add(struct aggregate *aggregate, const struct batch *batch);

/* Writes the names of the nodes that have something, with `before` before the first, of some and how many more there
   are. How many it is in all. */
uint32_t aggregate_name_nodes(const struct aggregate *aggregate, bool (*has)(const struct node_total *, const void *),
                              const void *context, const char *before, FILE *out);

/* Whether some node that a job ran on (NULL: any) did without that hook. Sorted. */
bool aggregate_misses(const struct aggregate *aggregate, const struct job_total *job, const struct hook_total *hook);

/* Whether all nodes that a job ran on (NULL: all) could see major page faults on mapped files, minor ones, and what
   comes from the network. Sorted. */
bool aggregate_sees_faults(const struct aggregate *aggregate, const struct job_total *job);
bool aggregate_sees_minor_faults(const struct aggregate *aggregate, const struct job_total *job);
bool aggregate_sees_receives(const struct aggregate *aggregate, const struct job_total *job);

/* Hooks in the kernel that some node did without. GPUs are none: what they do is no operation. */
unsigned aggregate_missing_hooks(const struct aggregate *aggregate);

/* Of these a whole way of making calls that some node did not see, and so lost nothing of; NULL: none. */
const char *aggregate_missing_way(const struct aggregate *aggregate);

struct in_flight {
    bool known;           /* else of the block layer, where only the mean is */
    uint64_t now;         /* at the end of each node's last interval */
    uint64_t oldest_ns, sum_ns; /* for how long the oldest of them has been, and all together */
    uint64_t max;         /* at least so many at once; 0 when that was not looked at */
    double mean;          /* weighted by time; NAN for a span of no length */
};

/* Operations of a kind (OP_NONE: of all) that run on a volume. */
void volume_in_flight(const struct volume_total *volume, const struct aggregate *aggregate,
                      enum operation op, struct in_flight *out);

/* Whether it was so at the end of its node's last interval. */
bool stuck_now(const struct stuck *stuck, const struct aggregate *aggregate);

/* When all is added: adds processes up to volumes, jobs and the cluster, so that each record was added but once; drops
   jobs without I/O; nodes and volumes in the order of their names, jobs by bytes, operations and name. 0, -ENOMEM or
   -ERANGE. */
int aggregate_sort(struct aggregate *aggregate);

void aggregate_clear(struct aggregate *aggregate);

/* How many commands were running when what was recorded of them ended; *first is the first one's job. */
uint32_t aggregate_unended(const struct aggregate *aggregate, const struct job_total **first);

/* Whether less was watched for some time and nobody knows for how long: a database keeps the reasons, not the times. */
bool aggregate_shed_unknown(const struct aggregate *aggregate);

#endif
