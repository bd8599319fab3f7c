/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record, and the batch that carries it: the one shape that runs through Unblend. A record is one
 * interval of one series (who, where, which operation); a batch is all records of one node and one
 * interval, with the tables its records point into. It is made by the drain and read back, unchanged,
 * from a file, a socket, the wire or the database.
 *
 * The kernel's counters are read while they move: within one interval, size, errors and bytes may differ
 * from latency by the operations of that moment, which the next interval then has. Over a series they agree.
 *
 * Units: bytes, nanoseconds, counts. Wall-clock times are nanoseconds since 1970 (UTC). How many
 * operations a record holds is the sum of its latency histogram; there is no second count to disagree.
 *
 * Ownership: a batch owns everything reachable from it. Strings handed in are copied. Indices
 * stay valid for the batch's life, pointers returned by batch_record() only until the next call of it.
 * Bytes of a string that are no UTF-8 become U+FFFD, so every batch can be encoded.
 */
#ifndef UNBLEND_LIB_RECORD_H
#define UNBLEND_LIB_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/error_code.h"
#include "lib/file_size.h"
#include "lib/flow.h"
#include "lib/gputime.h"
#include "lib/histogram.h"
#include "lib/joint.h"
#include "lib/operation.h"
#include "lib/station.h"
#include "lib/tree.h"

#define NO_INDEX UINT32_MAX

struct label {
    const char *name;
    const char *value;
};

struct job {
    const char *name;    /* unique in a batch */
    const char *kind;    /* slurm, kubernetes, container, systemd, env or command */
    const char *user;    /* NULL if not known */
    const char *command; /* without arguments; "" if not known */
    const struct label *labels;
    uint32_t label_count;
    int64_t start_ns; /* of this attempt on this node, wall clock; 0 if not known */
    int64_t end_ns;   /* 0 while it runs */
    int32_t exit;     /* exit status as a shell gives it; -1 if not known */
    uint64_t watched_ns; /* for how long its ranks' main threads were looked at, all together; 0: they were not */
    uint64_t exposed_ns; /* and were off the processors while their processes did I/O */
    struct gpu_time gpu;
};

enum scope {
    SCOPE_LOCAL,
    SCOPE_SHARED,
};

/* How full a volume is. */
struct space {
    uint64_t used_bytes, total_bytes; /* total: what may be used, without what is kept for root */
    uint64_t used_files, total_files; /* total_files 0: nobody counts them */
};

struct volume {
    const char *name;   /* unique in a batch; "?" is the volume of calls that no volume could be told of */
    const char *source; /* as in mountinfo; "" if not known */
    const char *fstype; /* "block" for a device that was opened directly or seen at the block layer */
    const char *lower;  /* of an overlay: the volume that its files are on; NULL: not one, or not known */
    enum scope scope;
    const char *const *mounts;
    uint32_t mount_count;
    bool has_space; /* agents ask once a minute */
    struct space space;
};

/* How finely the records of a batch tell who did something. */
enum grain { GRAIN_JOBS, GRAIN_PROCESSES, GRAIN_THREADS };

/* A thread group, or one thread of it where threads are asked for. Process detail never leaves the node. */
struct process {
    uint32_t pid;
    uint32_t tid; /* 0: all of its threads together, and what belongs to none of them */
    uint32_t uid;
    int64_t start_ns;    /* wall clock; pid and start make the key */
    const char *command; /* as of its last execve */
    uint32_t job;        /* index into jobs */
    bool exited;
};

/* Where a transfer starts, seen from the end of the one before it on the same open file. */
enum order {
    ORDER_SEQUENTIAL,  /* beyond it */
    ORDER_CONSECUTIVE, /* at it; a first transfer at offset 0 is consecutive, too */
    ORDER_RANDOM,      /* before it */
    ORDER_COUNT
};

/* Of a stat, in the same places: what its caller has open, by descriptor, as fstat() does; or what has a name. */
#define ORDER_OF_OPEN ORDER_CONSECUTIVE
#define ORDER_BY_NAME ORDER_RANDOM

/* Of a seek or a close that succeeded: those that file_size does not count, where it is looked at. */
#define ORDER_OF_OTHERS ORDER_SEQUENTIAL

/* What the page cache did for reads that moved bytes, as far as it is known. Missing in it are: O_DIRECT, file systems
   without a page cache of the kernel's, copies that they may make by themselves, and what was counted under a coarser key. */
enum cache {
    CACHE_HIT_OPS, /* served without the device */
    CACHE_HIT_BYTES,
    CACHE_MISS_OPS, /* pages were added to the page cache meanwhile, by readahead maybe */
    CACHE_MISS_BYTES,
    CACHE_COUNTS
};

/* Of a write, in the place of misses: bytes of what its thread had just received from the network (TCP). 0 where the kernel
   does not tell, which coverage says. */
#define CACHE_RECEIVED_BYTES CACHE_MISS_BYTES
/* Likewise, in the place of hits: bytes that its process has received meanwhile, by whichever thread; what it receives while it
   writes nothing comes with its next writes, divided among volumes as these are. */
#define CACHE_PROCESS_RECEIVED_BYTES CACHE_HIT_BYTES
/* Likewise, once processes have been folded into their jobs: bytes that they read in the batches in which they wrote, as
   lib/reworked.h has it; agents fold each second's by itself. */
#define CACHE_REWORKED_BYTES CACHE_HIT_OPS

/* Page faults on mapped files. Reads and writes are major ones, whose kind is not always known. */
enum fault { FAULT_READ, FAULT_WRITE, FAULT_MINOR, FAULT_KINDS };

static_assert((int)FILE_SIZES == (int)FAULT_KINDS, "they stand in the same places, of different operations");

struct record {
    uint32_t job;     /* index into jobs */
    uint32_t volume;  /* index into volumes */
    uint32_t process; /* index into processes; NO_INDEX on the wire and for what belongs to no process */
    enum operation op;
    uint64_t bytes;          /* really transferred */
    uint64_t errors;         /* operations that failed; they are in latency and not in size */
    uint64_t latency_sum_ns; /* operation-seconds, in ns */
    uint64_t order[ORDER_COUNT]; /* transfers by read and write calls that moved bytes; stats; seeks and closes */
    uint64_t cache[CACHE_COUNTS]; /* of read; of write, what its thread and its process received, and what that read */
    union {
        uint64_t faults[FAULT_KINDS]; /* of mmap_fault; minor ones are no operations */
        /* By how large the file was, where that is known: reads that moved something; seeks in what was open to be read only,
           and its closes. */
        uint64_t file_size[FILE_SIZES];
    };
    uint64_t in_flight; /* operations of this series running at the interval's end; in no histogram yet */
    uint64_t oldest_ns; /* for how long the oldest of them has been */
    uint64_t in_flight_ns; /* for how long all of them together have been */
    struct histogram size; /* one value a successful transfer; of open and create: the size of the regular file */
    struct histogram joint;      /* of read, write and stat, by lib/joint.h; empty where it is not known */
    struct histogram latency_ns;
    struct histogram error_codes; /* errors by errno, which is the bucket; fewer than errors where not all are known */
};

struct hook {
    const char *name;
    bool attached;
    const char *why; /* it is not attached; of one that is, what there is to say (NULL: nothing) */
};

#define HOOK_GPU "gpu" /* how busy GPUs are */

/* Kernel-bypass paths found on the node. */
struct bypass {
    const char *what;
    const char *device;
    const char *why;
};

/* Batches that were made and will never come: a range of a stream's numbers. */
struct dropped {
    const char *stream;
    uint64_t first, last;
    uint64_t ops;             /* that they had counted; DROPPED_UNKNOWN when nobody can tell */
    int64_t start_ns, end_ns; /* wall clock; 0: not known */
    const char *why;          /* quota, damaged, refused, gone */
};

#define DROPPED_UNKNOWN UINT64_MAX

/* What is left out, for a time, because watching it would cost too much: each has all that is above it, too. */
enum shed {
    SHED_JOB_KEYS,      /* processes, and where transfers start */
    SHED_METADATA_ONLY, /* reads, writes, seeks, page faults and block requests */
    SHED_DETACHED,      /* all operations */
    SHED_COUNT
};

/* Their names on the wire. */
extern const char *const shed_names[SHED_COUNT];

/* What this interval could not see. Counts are of this interval but for in_flight. */
struct coverage {
    uint64_t lost;         /* operations the probe missed (programs skipped by the kernel) */
    uint64_t killed;       /* operations whose thread died inside them */
    uint64_t in_flight;    /* operations running at the end of the interval */
    uint64_t unattributed; /* operations counted under no job, or under volume "?" */
    uint64_t overflow;     /* operations counted under a coarser key than asked */
    uint64_t shed_ms[SHED_COUNT]; /* for how long, of the interval: one of them at a time */
    const struct hook *hooks;
    uint32_t hook_count;
    const struct bypass *bypasses;
    uint32_t bypass_count;
    const struct dropped *dropped; /* before this batch; said again until a batch that says it has arrived */
    uint32_t dropped_count;
};

/* For how long, of the interval, tasks of the node waited for I/O, as the kernel tells it: probe/pressure.h. */
struct pressure {
    bool known;
    uint64_t some_ns; /* at least one of them */
    uint64_t full_ns; /* all of them that had something to do */
};

#define INTERVAL_MS_MAX 604800000 /* a week: no program makes longer ones */

struct batch {
    struct arena arena;

    /* identity */
    const char *cluster;
    const char *node;
    const char *role; /* client, storage or converged */
    const char *kernel;
    const char *boot_id;
    const char *stream; /* 32 hex digits; with cluster, node and seq the ledger's key */
    uint64_t seq;

    /* interval */
    int64_t start_ns;     /* wall clock */
    uint64_t duration_ns; /* monotonic clock */
    uint32_t interval_ms; /* the nominal interval; what says more than INTERVAL_MS_MAX nobody takes */
    bool rolled;          /* of a database's minute or hour, and what came late for that is one of its own */
    struct pressure pressure;

    struct job *jobs;
    uint32_t job_count;
    struct volume *volumes;
    uint32_t volume_count;
    struct process *processes;
    uint32_t process_count;
    struct record *records;
    uint32_t record_count;
    struct flow *flows; /* none from a probe or a database that has no slots */
    uint32_t flow_count;
    struct station *stations; /* the storage side */
    uint32_t station_count;
    struct tree *trees; /* none where nobody asks for them */
    uint32_t tree_count;
    struct coverage coverage;

    struct batch_index *index; /* lib/record_private.h */
};

/* 0 or -ENOMEM. */
int batch_new(struct batch **out);
void batch_free(struct batch *batch); /* NULL is fine */

static inline void batch_freep(struct batch **batch)
{
    batch_free(*batch);
}

/* Sets a string field of the batch to a copy: batch_set(b, &b->node, "n1"). 0 or -ENOMEM. */
int batch_set(struct batch *batch, const char **field, const char *value);

/*
 * Find or add by key (jobs and volumes by name, processes by pid, tid and start). On a find the fields that
 * the batch does not know yet are filled in, and end_ns, exit, command and exited are taken over; watched_ns, exposed_ns
 * and gpu are left alone. Everything is copied. 0, -ENOMEM, or -EINVAL for a process's job out of range; *index only
 * on success.
 */
int batch_job(struct batch *batch, const struct job *job, uint32_t *index);
int batch_volume(struct batch *batch, const struct volume *volume, uint32_t *index);
int batch_process(struct batch *batch, const struct process *process, uint32_t *index);

/* Find or add the record of a series; a new one is empty. 0, -ENOMEM, or -EINVAL for an index out of range. */
int batch_record(struct batch *batch, uint32_t job, uint32_t volume, uint32_t process,
                 enum operation op, struct record **out);

/* Find or add the flow of a job on a volume; a new one is empty. The pointer is good until the next call.
   0, -ENOMEM, or -EINVAL for an index out of range. */
int batch_flow(struct batch *batch, uint32_t job, uint32_t volume, struct flow **out);

/* Find or add the station with the keys of another; a new one is empty. The pointer is good until the next call.
   0, -ENOMEM, or -EINVAL for an index out of range. */
int batch_station(struct batch *batch, const struct station *key, struct station **out);

/* Find or add a job's tree on a volume; a new one is empty. The pointer is good until the next call.
   0, -ENOMEM, or -EINVAL for an index out of range. */
int batch_tree(struct batch *batch, uint32_t job, uint32_t volume, const char *name, struct tree **out);

/* Leaves the trees out: their names are paths. */
void batch_forget_trees(struct batch *batch);

/* Frees what a record that is left out of its batch holds. */
void record_clear(struct record *record);

/* Adds the counts of src to dst, which is of the same interval (keys untouched). 0, -ENOMEM or -ERANGE; dst unchanged
   on failure. */
int record_add(struct record *dst, const struct record *src);

static inline uint64_t record_ops(const struct record *record)
{
    return histogram_count(&record->latency_ns);
}

/* Copies of hooks, bypasses and what was dropped. 0 or -ENOMEM. */
int batch_hooks(struct batch *batch, const struct hook *hooks, uint32_t count);
int batch_bypasses(struct batch *batch, const struct bypass *bypasses, uint32_t count);
int batch_dropped(struct batch *batch, const struct dropped *dropped, uint32_t count);

/*
 * Adds src to dst: records by series, coverage summed (what is in flight, and hooks: src's, which is later), the
 * interval extended to src's end. Threads are folded into their processes, and these into their jobs, unless the grain
 * keeps them apart.
 * Identity and interval_ms are taken from src where dst has none. 0, -ENOMEM or -ERANGE.
 */
int batch_merge(struct batch *dst, const struct batch *src, enum grain grain);

/* Whether it begins where the one before ends, give or take a second. If it does not, a clock was set between the two,
   or something is missing: merged, they would be said to have lasted for all that lies between. */
bool batch_follows(const struct batch *batch, const struct batch *before);

#endif
