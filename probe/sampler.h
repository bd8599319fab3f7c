/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batches at a steady pace: intervals begin and end on multiples of their length by the wall clock, so that the
 * nodes of a cluster line up, and are measured by the monotonic one.
 */
#ifndef UNBLEND_PROBE_SAMPLER_H
#define UNBLEND_PROBE_SAMPLER_H

#include "probe/probe.h"

struct sampler;

/* Which ranks' waiting for I/O is told; see probe/stall.h. */
enum stall_watch {
    STALLS_NONE,
    STALLS_MARKED, /* of those with a rank's variable: cheap, and nothing where there are none */
    STALLS_ALL,    /* and of the topmost processes of jobs; also what GPUs did meanwhile */
};

struct sampler_options {
    uint64_t interval_ns;
    const char *cluster; /* NULL: "default" */
    const char *node;    /* NULL: the host's name */
    const char *role;    /* NULL: "client" */
    enum stall_watch stalls;
    uint64_t max_cost;   /* what watching may cost, in millionths of the node's processors; 0: anything */
};

/* What somebody who waits for the counts allows: everything. */
#define SAMPLER_MAX_COST 0

/* What a service that nobody watches allows itself, in the unit of max_cost: 1 % of the node, or half a processor where
   that is more, for a small node that is busy shall not lose its counts. */
uint64_t sampler_modest_cost(void);

/* Borrows the probe. The first interval begins now and ends on the next multiple. 0 or -errno. */
int sampler_new(struct probe *probe, const struct sampler_options *options, struct sampler **out);
void sampler_free(struct sampler *sampler); /* NULL is fine */

/* Another length, from the interval that runs on. */
void sampler_set_interval(struct sampler *sampler, uint64_t interval_ns);

/* Nanoseconds until the interval ends; 0 when it has. */
uint64_t sampler_remaining(const struct sampler *sampler);

/* Waits for the interval's end, watching mounts, and until then for events on fd (-1: none). 1 when the
   interval has ended, 0 when fd is readable or a signal came, -errno. */
int sampler_wait(struct sampler *sampler, int fd);

/* How much is watched at present. */
enum probe_step sampler_step(const struct sampler *sampler);

/* Ends the interval now and hands its batch out, with identity, a stream of its own and rising seq. 0 or -errno. */
int sampler_take(struct sampler *sampler, struct batch **out);

/* 32 random hex digits and a NUL. 0 or -errno. */
int random_stream(char stream[33]);

#endif
