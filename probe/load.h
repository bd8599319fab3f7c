/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the BPF objects and attaches their programs. The system calls' object is needed; without the others the rest
 * goes on, and what is missing stands beside its hook with the reason.
 */
#ifndef UNBLEND_PROBE_LOAD_H
#define UNBLEND_PROBE_LOAD_H

#include "lib/record.h"
#include "probe/hook.h"
#include "probe/probe.h"

struct loaded;

/* Loads the first object, whose maps everybody shares. 0 or -errno, not logged. *out is set in both cases, unless there
   is no memory, so that the reasons can be read. */
int load_open(const struct probe_options *options, struct loaded **out);

/* Attaches it, and what else there is. 0 or -errno of the first object. */
int load_attach(struct loaded *loaded, const struct probe_options *options);

void load_close(struct loaded *loaded); /* NULL is fine */

/* How the system calls are watched. */
struct calls;
struct calls *load_calls(const struct loaded *loaded);

struct bpf_object;
const struct bpf_object *load_object(const struct loaded *loaded);

/* Descriptor of a map by name. */
int load_map(const struct loaded *loaded, const char *name);

/* What the programs look at while they run; may be written at any time. */
struct abi_control;
volatile struct abi_control *load_control(const struct loaded *loaded);

/* Attaches what a kernel module that has come meanwhile makes possible; to be called often. */
void load_late(struct loaded *loaded);

/* Nothing is loaded for a while: gives the memory back that it took. */
void load_release(void);

/* Detaches what the step leaves out, and attaches again what it does not. 0 or -errno of the last that failed. */
int load_step(struct loaded *loaded, enum probe_step step);

/* For how long the programs have run while the kernel measured that (bpf_enable_stats()). */
uint64_t load_run_ns(const struct loaded *loaded);

/* Where a hook of the table is attached, or would be. */
const char *load_name(const struct loaded *loaded, unsigned hook);

/* Whether a hook of the table is attached, and why not ("" if nothing is known). */
bool load_attached(const struct loaded *loaded, unsigned hook);
const char *load_why(const struct loaded *loaded, unsigned hook);

/* Whether a hook is in a kernel module that is not loaded. */
bool load_awaits(const struct loaded *loaded, unsigned hook);

/* Why a way in of the table is not seen; NULL when it is. */
const char *load_blind(const struct loaded *loaded, unsigned way_in);

/* Counts as lost what the block layer has done with and no program has seen the end of; to be called before a drain. */
void load_settle(const struct loaded *loaded);

/* Events for which the kernel has skipped a program because it was running already, since the start. */
uint64_t load_missed(const struct loaded *loaded);

#endif
