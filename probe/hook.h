/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's hooks: one table of what is attached where, and what is not seen without it. */
#ifndef UNBLEND_PROBE_HOOK_H
#define UNBLEND_PROBE_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The BPF objects. Only the first one is needed. */
enum hook_object {
    HOOK_SYSCALL,
    HOOK_BLOCK,
    HOOK_FAULT,
    HOOK_FAULT_FUNCTION,
    HOOK_URING,
    HOOK_AIO,
    HOOK_FUSE,
    HOOK_NFS,
    HOOK_NFSD,
    HOOK_JOB,
    HOOK_RECEIVE,
    HOOK_SEED,
    HOOK_OBJECTS
};

struct hook_info {
    const char *program; /* in the BPF object */
    const char *name;    /* as coverage and doctor show it */
    const char *purpose;
    enum hook_object object;
    bool each_cpu; /* a perf event on each CPU instead of a tracepoint */
    const char *instead;      /* the program for the functions behind the tracepoint, and */
    const char *instead_name; /* its name; NULL where there is none */
    const char *module;       /* the kernel module that may have the tracepoint; NULL: none */
    bool is_aside;            /* an event that its program misses takes a detail away and no operation */
};

/* The first two of the table are those of system calls, whose programs depend on the flavour (probe/calls.h). */
enum { HOOK_CALL_ENTRY, HOOK_CALL_EXIT };

static inline bool hook_is_call(unsigned hook)
{
    return hook <= HOOK_CALL_EXIT;
}

extern const struct hook_info hook_table[];
extern const unsigned hook_count;

/* Ways in that the programs of system calls see, where the kernel or the architecture lets them. */
struct way_in {
    const char *name;
    const char *purpose;
    bool (*is_seen)(void);
    const char *why; /* it is not */
};

enum { WAY_IN_AIO, WAY_IN_COMPAT }; /* in the order of the table */

extern const struct way_in ways_in[];
extern const unsigned way_in_count;

/* The requests of libaio are followed in loops, which not every kernel grants a program. */
bool hook_aio(void);

/*
 * Whether the kernel's BTF knows a tracepoint ("sys_enter"), and how many arguments its programs get (0 if
 * it does not). Needs /sys/kernel/btf/vmlinux; -errno if that cannot be read. NULL gives the memory of
 * earlier questions back.
 */
int hook_arguments(const char *tracepoint);

/* The same of a tracepoint that may be in a kernel module, which is loaded, or of the kernel itself. */
int hook_module_arguments(const char *module, const char *tracepoint);

/* Whether the kernel, or that module if it is loaded, has a structure of that name. */
bool hook_module_type(const char *module, const char *type);

/* Whether the kernel's BTF knows a function, or a member of a structure. */
bool hook_function(const char *name);

/* Whether this kernel preempts programs on tracepoints, and skips those that are still busy for another task. */
bool hook_skips(void);

bool hook_member(const char *type, const char *member);

/* The BTF id of a function; 0 when there is none of that name. */
uint32_t hook_function_id(const char *name);

/* The one-line reason why loading or attaching failed with err (negative errno), and what to do. */
void hook_explain(int err, char *text, size_t size);

#endif
