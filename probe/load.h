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

struct bpf_object;
const struct bpf_object *load_object(const struct loaded *loaded);

/* Descriptor of a map by name. */
int load_map(const struct loaded *loaded, const char *name);

/* Where a hook of the table is attached, or would be. */
const char *load_name(const struct loaded *loaded, unsigned hook);

/* Whether a hook of the table is attached, and why not ("" if nothing is known). */
bool load_attached(const struct loaded *loaded, unsigned hook);
const char *load_why(const struct loaded *loaded, unsigned hook);

/* Whether a way in of the table is seen. */
bool load_sees(const struct loaded *loaded, unsigned way_in);

/* Events for which the kernel has skipped a program because it was running already, since the start. */
uint64_t load_missed(const struct loaded *loaded);

#endif
