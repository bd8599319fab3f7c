/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io_uring's tracepoints: they have changed their names. */
#ifndef UNBLEND_PROBE_URING_H
#define UNBLEND_PROBE_URING_H

struct bpf_object;

/* Before the object is loaded: aims its programs at what this kernel has, and leaves out what it does not need. */
void uring_choose(struct bpf_object *object);

#endif
