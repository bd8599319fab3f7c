/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Second programs. The kernel skips a program that is busy on the same CPU for an event that an interrupt brings, or,
 * where it preempts programs on tracepoints, another task. One behind it does then what the first has not.
 */
#ifndef UNBLEND_PROBE_AGAIN_H
#define UNBLEND_PROBE_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/hook.h"

struct bpf_link;
struct bpf_object;

#define AGAIN_PROGRAMS 11

/* Leaves the second programs of the object out that this kernel does not need; before it is loaded. */
void again_choose(const struct bpf_object *object, enum hook_object which);

/* Attaches them behind the first ones. What cannot be attached is left out. */
void again_attach(const struct bpf_object *object, enum hook_object which, struct bpf_link *links[AGAIN_PROGRAMS]);
void again_detach(enum hook_object which, struct bpf_link *links[AGAIN_PROGRAMS]);

/* Whether events that a hook's program skips are no losses: the second one sees them, or their request tells of them. */
bool again_covers(const struct bpf_object *object, unsigned hook);

/* For how long the second programs of a loaded object have run, where the kernel keeps count of it. */
uint64_t again_run_ns(const struct bpf_object *object, enum hook_object which);

#endif
