/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's hooks: one table of what is attached where, and what is not seen without it. */
#ifndef UNBLEND_PROBE_HOOK_H
#define UNBLEND_PROBE_HOOK_H

#include <stdbool.h>
#include <stddef.h>

/* The BPF objects. Only the first one is needed. */
enum hook_object { HOOK_SYSCALL, HOOK_BLOCK, HOOK_FAULT, HOOK_URING, HOOK_AIO, HOOK_OBJECTS };

struct hook_info {
    const char *program; /* in the BPF object */
    const char *name;    /* as coverage and doctor show it */
    const char *purpose;
    enum hook_object object;
    bool each_cpu; /* a perf event on each CPU instead of a tracepoint */
    const char *instead;      /* the program for the functions behind system calls, and */
    const char *instead_name; /* its name; NULL where there is none */
};

extern const struct hook_info hook_table[];
extern const unsigned hook_count;

/* Ways in that the programs of system calls see, where the kernel or the architecture lets them. */
struct way_in {
    const char *name;
    const char *purpose;
    bool (*is_seen)(void);
    const char *why; /* it is not */
};

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

/* Whether the kernel's BTF knows a function. */
bool hook_function(const char *name);

/* The one-line reason why loading or attaching failed with err (negative errno), and what to do. */
void hook_explain(int err, char *text, size_t size);

#endif
