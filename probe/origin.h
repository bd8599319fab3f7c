/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs of this node, and their ids: those that were given, and those that probe/finder.h has found. A process of
 * no job is named by its user and command, "root/postgres".
 */
#ifndef UNBLEND_PROBE_ORIGIN_H
#define UNBLEND_PROBE_ORIGIN_H

#include <stdint.h>

#include "lib/record.h"

struct origin;

/* 0 or -ENOMEM. */
int origin_new(struct origin **out);
void origin_free(struct origin *origin); /* NULL is fine */

/* Makes a job known; everything is copied. Its id is never 0. 0 or -ENOMEM. */
int origin_job(struct origin *origin, const struct job *job, uint32_t *id);

/* The same for a job that was found, by what makes it this one ("slurm:42"). Its id has ABI_JOB_FOUND. */
int origin_found(struct origin *origin, const char *identity, const struct job *job, uint32_t *id);

/* The id of a job that was found, 0 if none was by that identity. */
uint32_t origin_seek(struct origin *origin, const char *identity);

/* Adds what came to be known of a job later: labels that it lacks, user and command where it has none. 0 or -ENOMEM. */
int origin_fill(struct origin *origin, uint32_t id, const struct job *more);

/*
 * Notes that a job is somebody's; and forgets those found, and those given whose end has been reported, that have been
 * nobody's since then (CLOCK_MONOTONIC).
 */
void origin_use(struct origin *origin, uint32_t id, int64_t now_ns);
int origin_forget(struct origin *origin, int64_t before_ns);

/* The job, for updates; NULL for an id that is not known. Valid until the next origin_job(). */
struct job *origin_find(struct origin *origin, uint32_t id);

/* Adds the job of a process to a batch: its own if id is not 0. 0 or -ENOMEM. */
int origin_name(struct origin *origin, uint32_t id, uint32_t uid, const char *command,
                struct batch *batch, uint32_t *index);

/* Adds the given jobs that run, or have ended since the last report, whether or not they did any I/O. 0 or -ENOMEM. */
int origin_report(struct origin *origin, struct batch *batch);

/* The name of a user, "1000" for one without; valid until the next call. */
const char *origin_user(struct origin *origin, uint32_t uid);

#endif
