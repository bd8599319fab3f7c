/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The volumes of calls by path that have not returned for a while. A thread of its own finds them out, so that the
 * one who asks never waits, whatever the calls wait for. It is made when the first call hangs.
 */
#ifndef UNBLEND_PROBE_HUNG_H
#define UNBLEND_PROBE_HUNG_H

#include <stdint.h>

#include "lib/operation.h"

/* Calls are looked after when they have lasted so long. */
#define HUNG_NS 300000000ULL

struct hung;

/* 0 or -ENOMEM. */
int hung_new(struct hung **out);
void hung_free(struct hung *hung); /* NULL is fine */

/* Asks for the volume of the call that a thread has been in since since_ns (CLOCK_MONOTONIC): it will be known soon. */
void hung_ask(struct hung *hung, uint32_t tid, uint64_t since_ns, enum operation op);

/* What is known of it; ABI_VOLUME_UNKNOWN for nothing. */
uint64_t hung_volume(struct hung *hung, uint32_t tid, uint64_t since_ns);

#endif
