/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that do I/O, and for which of them they work: a rank is the topmost process of a job that is known to do
 * I/O, or the topmost that has a rank's variable in its environment (RANK, SLURM_PROCID, ...); but not one that only
 * waits for another to end, as shells do. A service that nobody
 * asked about ranks takes those with a variable only, once they are a second old: on most nodes there are none, and
 * then nothing is read but the table of threads, once a second.
 */
#ifndef UNBLEND_PROBE_RANK_H
#define UNBLEND_PROBE_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record.h"
#include "probe/finder.h"
#include "probe/origin.h"
#include "probe/tables.h"

#define RANKS_MAX        256 /* more are not looked at, */
#define RANKS_MARKED_MAX 64  /* nor more of those with a variable where these alone are taken */

struct rank {
    bool used;
    uint32_t index; /* in the table of processes */
    uint32_t pid;
    int64_t start_ns; /* CLOCK_BOOTTIME */
    bool marked;      /* has a rank's variable */
    uint32_t job, uid; /* as finder and origin know it */
    char command[17];
    int schedstat;              /* a descriptor; -1: it is gone */
    uint64_t cpu_ns, queue_ns;  /* of its main thread, at the last look */
    int64_t looked_ns;          /* CLOCK_BOOTTIME; 0: never */
    int64_t waited_ns; /* for so long it has done nothing but wait for a child to end */
    bool stands_back;  /* so long that it is a shell or a launcher: those that it started are ranks themselves */
    int64_t spare_ns; /* since it ran last: off the processors while nothing was under way, or queued */
    int64_t owed_ns;            /* time on a processor that was told after the look that it belongs to */
    /* Of it and its descendants, see probe/inside.h: at the last look, and being summed up. */
    uint64_t inside_ns, now_ns;
    uint64_t watched_ns, io_ns, exposed_ns; /* since the last report */
    bool whole; /* known since before that began */
};

struct ranks {
    struct rank list[RANKS_MAX];
    uint32_t count; /* none from here on is used */
    uint16_t *of;   /* by process in the table: the number of its rank + 1; 0: it has none */
    struct met *met; /* by process in the table */
    struct tables *tables;
    struct finder *finder;
    struct reader *reader;
    const char *root;
    bool marked_only;
    unsigned may_ask; /* environments that may be read before the next second begins */
    int64_t second_ns;
};

/* root: as in probe/host.h. Borrows all of them. 0 or -ENOMEM. */
int ranks_open(struct ranks *ranks, struct tables *tables, struct finder *finder, const char *root, bool marked_only);
void ranks_close(struct ranks *ranks);

/* Gets to know the processes of threads that are new in the table, and forgets ranks that are gone and have nothing
   left to report. now_ns: CLOCK_BOOTTIME. 0 or -ENOMEM. */
int ranks_find(struct ranks *ranks, int64_t now_ns);

/* The rank stands back from now on: those that worked for it are judged anew. */
void ranks_stand_back(struct ranks *ranks, struct rank *rank);

/* The rank that the process in the table works for, or the one with that number; NULL: none, or it is not known to do
   I/O. */
struct rank *ranks_of(struct ranks *ranks, uint32_t index);
struct rank *ranks_of_pid(struct ranks *ranks, uint32_t pid);

#endif
