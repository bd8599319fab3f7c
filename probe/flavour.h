/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where system calls are watched, and which place is best here. What the kernel has is asked of the kernel; which
 * release it is never matters.
 */
#ifndef UNBLEND_PROBE_FLAVOUR_H
#define UNBLEND_PROBE_FLAVOUR_H

#include <stdbool.h>
#include <stdint.h>

enum flavour {
    FLAVOUR_AUTO,
    FLAVOUR_TP_BTF,     /* two programs on all system calls: cheapest for the calls that count */
    FLAVOUR_TRACEPOINT, /* events on single calls: cheapest where most calls do not count */
    FLAVOUR_FENTRY,     /* the functions behind the calls, where the kernel does not preempt programs */
    FLAVOUR_KPROBE,     /* the same functions, dearest, never preempted */
    FLAVOURS
};

/* As --flavour takes it: "tp_btf". */
const char *flavour_name(enum flavour flavour);

/* Flavours in order of preference; FLAVOUR_AUTO ends the list, and one that begins with it is empty. */
struct flavour_list {
    enum flavour order[FLAVOURS];
};

#define FLAVOUR_NAMES "auto, tp_btf, tracepoint, fentry or kprobe, or several with commas"

/* "auto", or "fentry,tracepoint". -EINVAL for a name that is none, or that comes twice. */
int flavour_parse(const char *names, struct flavour_list *list);

/* What the hooks on entry and on return are called in coverage: "tp_btf/sys_enter". */
const char *flavour_hook(enum flavour flavour, bool at_exit);

enum preemption {
    PREEMPTION_NONE,    /* never inside the kernel: none, voluntary */
    PREEMPTION_ALWAYS,  /* full, lazy */
    PREEMPTION_UNKNOWN, /* decided at boot, and we may not see how */
};

struct flavour_facts {
    bool faultable; /* programs on the tracepoints of system calls run with preemption on */
    enum preemption preemption;
    bool functions;  /* the kernel's types name the functions behind the calls */
    bool tracefs;
    char tracefs_why[120];
    /* All system calls of the machine in a short while; 0 and 0: not measured. */
    uint64_t counted, others;
    uint64_t window_ms;
};

/* The flavours worth trying, best first, and of each why it stands there, or why it is left out. */
struct flavour_plan {
    enum flavour order[FLAVOURS];
    unsigned count;
    char why[FLAVOURS][200];
};

/* Of flavours that are forced no other is tried. */
void flavour_decide(const struct flavour_facts *facts, const struct flavour_list *forced,
                    struct flavour_plan *plan);

#endif
