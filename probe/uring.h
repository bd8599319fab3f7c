/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io_uring's tracepoints: they have changed their names, and some kernels skip a program that is busy. */
#ifndef UNBLEND_PROBE_URING_H
#define UNBLEND_PROBE_URING_H

#include <stdbool.h>

struct bpf_link;
struct bpf_object;

#define URING_AGAIN 3

/* Whether this kernel preempts programs on tracepoints, so that each of io_uring's needs a second one behind it. */
bool uring_twice(void);

/* Before the object is loaded: aims its programs at what this kernel has, and leaves out what it does not need. */
void uring_choose(struct bpf_object *object);

/* Attaches the second programs behind the first ones, where they are needed. What cannot be attached is left out. */
void uring_attach_again(const struct bpf_object *object, struct bpf_link *links[URING_AGAIN]);
void uring_detach_again(struct bpf_link *links[URING_AGAIN]);

#endif
