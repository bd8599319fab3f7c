/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io_uring's tracepoints: they have changed their names, and some kernels skip a program that is busy. */
#ifndef UNBLEND_PROBE_URING_H
#define UNBLEND_PROBE_URING_H

#include <stdbool.h>

struct bpf_object;

/* Whether this kernel preempts programs on tracepoints, so that each of io_uring's needs a second one behind it. */
bool uring_twice(void);

/* Before the object is loaded: aims its programs at what this kernel has, and leaves out what it does not need. */
void uring_choose(struct bpf_object *object);

#endif
