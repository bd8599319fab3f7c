/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What probe/load.h promises is kept by five files, and this is what they share: no header for others. */
#ifndef UNBLEND_PROBE_LOADED_H
#define UNBLEND_PROBE_LOADED_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/again.h"
#include "probe/bpf/configabi.h"
#include "probe/calls.h"
#include "probe/hook.h"
#include "probe/load.h"

#define HOOKS_MAX 48
#define CONTROL   ".data.control"

struct bpf_link;
struct bpf_object;

struct loaded {
    struct bpf_object *object[HOOK_OBJECTS];
    struct bpf_link *links[HOOKS_MAX];
    struct bpf_link **cpu_links; /* of the hook that is attached to each CPU */
    int cpu_count;
    bool at_functions[HOOK_OBJECTS]; /* its tracepoints are missing, and programs watch functions instead */
    struct calls *calls;
    struct probe_options options;
    int programs[HOOKS_MAX]; /* descriptors of attached programs, for their losses; 0 for none */
    char why[HOOKS_MAX][200];
    struct bpf_link *again[AGAIN_PROGRAMS];
    uint32_t ways_in; /* a bit for each that is seen */
    volatile struct abi_control *control;
    enum probe_step step;
    bool ready[HOOK_OBJECTS]; /* loaded, and attached where that could be */
    const char *types; /* a file that has them, while an object is loaded that needs a module's; else NULL */
    bool awaits[HOOK_OBJECTS]; /* a kernel module that is not loaded so far */
    bool resting[HOOKS_MAX];  /* detached by a step; the program is still there */
};

/* load.c: loads and attaches an object that the rest goes on without; the reason stands beside its hooks. */
void load_more(struct loaded *loaded, enum hook_object which, const struct probe_options *options);

/* load_modules.c: whether an object lacks the types of a kernel module; it is tried again when that is loaded, once. */
bool load_awaits_module(struct loaded *loaded, enum hook_object which);

/* The kernel's types with those of the module that an object's programs look at: an open file; -ENOENT where the
   kernel's alone do, or -errno. */
int load_types(enum hook_object which);

/* load_object.c: an object of programs, with what they are to know of this kernel. 0 or -errno */
int load_open_object(struct loaded *loaded, enum hook_object which, const struct probe_options *options);

/* The other objects work on the maps of the first one, which has been loaded. */
int load_share_maps(struct bpf_object *object, const struct bpf_object *owner);

/*
 * load_hooks.c: attaches the programs of an object that has been loaded, as far as the present step wants them. What
 * cannot be attached has its reason in why; the last error is returned.
 */
int load_hooks(struct loaded *loaded, enum hook_object which);
void load_unhook(struct loaded *loaded, unsigned hook);

/* Leaves out the programs whose tracepoint this kernel does not have; whether there are any. */
bool load_leave_out_missing(struct loaded *loaded, enum hook_object which);

/* The same reason for all hooks of an object that have none. */
void load_explain_all(struct loaded *loaded, enum hook_object which, const char *why);

#endif
