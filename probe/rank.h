/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that do I/O, and for which of them they work: a rank is the topmost process of a job that is known to do
 * I/O, or the topmost that has a rank's variable in its environment (RANK, SLURM_PROCID, ...).
 */
#ifndef UNBLEND_PROBE_RANK_H
#define UNBLEND_PROBE_RANK_H

#include "lib/record.h"

#define RANKS_MAX 256 /* more are not looked at */

/* A process that did I/O. */
struct worker {
    uint32_t pid, parent;
    int64_t start_ns;
    char *job;
    bool has_variable, is_rank;
    uint32_t rank; /* its position */
    uint64_t cpu_ns, queue_ns; /* of a rank's main thread, at the last look */
    int64_t looked_ns;         /* CLOCK_REALTIME; 0: never */
    uint64_t io_ns;            /* of a rank, with its descendants', in this interval */
    uint64_t whole_ns, exposed_ns; /* of an interval that it has been through from the start, else 0 */
};

struct workers {
    struct worker *list;
    uint32_t count, capacity, ranks;
};

void workers_clear(struct workers *workers);
/* Finds it, or gets to know it. *out is good until the next call. 0 or -ENOMEM. */
int workers_learn(struct workers *workers, const struct process *process, const char *job, struct worker **out);
/* NULL: not known. */
struct worker *workers_find(struct workers *workers, uint32_t pid);
/* Makes room when there are very many: ranks are found again, and lose one interval. */
void workers_forget(struct workers *workers);

#endif
