/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel functions behind the system calls that count, as another place to hook: a program there costs more than one
 * on a tracepoint, and is never preempted.
 */
#ifndef UNBLEND_PROBE_FUNCTIONS_H
#define UNBLEND_PROBE_FUNCTIONS_H

#include <stdbool.h>

struct bpf_link;
struct bpf_object;

/*
 * Lets the programs be loaded where the kernel may take the processor from one on a system call's tracepoint: that
 * one is then skipped for whoever runs meanwhile, a quarter of all calls of a few busy threads.
 */
void functions_choose(struct bpf_object *object);

/*
 * Attaches them for all hooks of the table that have one, or for none: then the tracepoints remain. links and
 * programs, by index in the table, are filled in for those; whether they are.
 */
bool functions_attach(const struct bpf_object *object, struct bpf_link *links[], int programs[]);

#endif
