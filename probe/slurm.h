/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account and the partition of Slurm jobs. A node's files and cgroups do not tell them, so squeue is asked, once a
 * job, while the caller goes on; where there is no squeue nothing is asked.
 */
#ifndef UNBLEND_PROBE_SLURM_H
#define UNBLEND_PROBE_SLURM_H

#include <stdbool.h>
#include <stdint.h>

struct slurm;

struct slurm_answer {
    uint32_t tag; /* the question's */
    char account[128], partition[128], user[128]; /* "" where not told */
};

/* 0 or -ENOMEM. */
int slurm_new(struct slurm **out);
void slurm_free(struct slurm *slurm); /* NULL is fine; a question under way is given up */

/* Asks for a job (digits); at most some thousand wait. */
void slurm_ask(struct slurm *slurm, const char *job, uint32_t tag);

/* To be called often; never waits. True with an answer. */
bool slurm_poll(struct slurm *slurm, struct slurm_answer *answer);

/* "account|partition|user\n", as squeue prints it when asked as we ask. False when it is not like that. */
bool slurm_parse(char *line, struct slurm_answer *answer);

#endif
