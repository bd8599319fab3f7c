/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe's hooks: one table of what is attached where, and what is not seen without it. */
#ifndef UNBLEND_PROBE_HOOK_H
#define UNBLEND_PROBE_HOOK_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_link;
struct bpf_program;

struct hook_info {
    const char *program; /* in the BPF object */
    const char *name;    /* as coverage and doctor show it */
    const char *purpose;
    bool block; /* in the block object; without it the file layer still works */
    const char *instead;      /* the program for the functions behind system calls, and */
    const char *instead_name; /* its name; NULL where there is none */
};

extern const struct hook_info hook_table[];
extern const unsigned hook_count;

/* Ways in that this version does not count, and why: always listed as unavailable. */
struct blind_spot {
    const char *name;
    const char *why;
};

extern const struct blind_spot blind_spots[];
extern const unsigned blind_spot_count;

/*
 * Whether the kernel's BTF knows a tracepoint ("sys_enter"), and how many arguments its programs get (0 if
 * it does not). Needs /sys/kernel/btf/vmlinux; -errno if that cannot be read. NULL gives the memory of
 * earlier questions back.
 */
int hook_arguments(const char *tracepoint);

/*
 * Whether the kernel may take the processor from a program that runs on a system call's tracepoint. The program is
 * then skipped for whoever runs meanwhile: a quarter of all calls with a few busy threads.
 */
bool hook_preemptible(void);

/* Attaches a program to the functions behind the system calls that count. NULL with errno set. */
struct bpf_link *hook_attach_functions(const struct bpf_program *program, bool at_return);

/* The one-line reason why loading or attaching failed with err (negative errno), and what to do. */
void hook_explain(int err, char *text, size_t size);

#endif
